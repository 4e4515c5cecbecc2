/**
 * What requests of this server call themselves. The version is the package's; a test compares the
 * two.
 */
export const USER_AGENT = 'Headwater/0.1.0';
