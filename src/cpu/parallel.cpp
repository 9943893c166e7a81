namespace equalux {}
