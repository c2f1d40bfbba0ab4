import type { Role } from '@atrium/protocol/ahp-1';

/** The descriptions of roles, for people who choose one. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: 'viewer: reads along',
  approver: 'approver: reads, and answers questions',
  driver: 'driver: works with sessions and their files',
  owner: 'owner: everything, devices too',
};
