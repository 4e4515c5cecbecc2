export { OidcRefusal, type OidcRefusalReason } from './oidc-client.ts';
export { createPasswords } from './passwords.ts';
export { expirePeople } from './people.sql.ts';
export { createPeople } from './people.ts';
