/** `user-agent` of this server's requests. A test compares the version with the package's. */
export const USER_AGENT = 'Headwater/0.1.0';
