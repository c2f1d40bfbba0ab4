import type { Role } from '@atrium/protocol/ahp-1';

/** What people read where they choose a role. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: 'viewer: reads along',
  approver: 'approver: reads, and answers questions',
  driver: 'driver: works with sessions and their files',
  owner: 'owner: everything, devices too',
};
