# CPack
