/** The roles of a member of an account, the least first. */
export const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const;

export type Role = (typeof ROLES)[number];

/** The parts of a role. */
export const RIGHTS = ['read', 'change', 'keys', 'members', 'owners'] as const;

/**
 * `read`: every read but secrets. `change`: deploy, change, delete and run, and read secrets.
 * `keys`: API keys and portal links. `members`: members and invitations. `owners`: members who are
 * owners.
 */
export type Right = (typeof RIGHTS)[number];

/** The rights of each role; docs/people.md has the same table. */
const ROLE_RIGHTS: Readonly<Record<Role, readonly Right[]>> = {
  viewer: ['read'],
  developer: ['read', 'change'],
  admin: ['read', 'change', 'keys', 'members'],
  owner: ['read', 'change', 'keys', 'members', 'owners'],
};

export function rightsOf(role: Role): Right[] {
  return [...ROLE_RIGHTS[role]];
}

export function hasRight(role: Role, right: Right): boolean {
  return ROLE_RIGHTS[role].includes(right);
}

/** The roles that have it, the least first. */
export function rolesWith(right: Right): Role[] {
  return ROLES.filter((role) => hasRight(role, right));
}
