/** Optional members are absent, not undefined: what is sent and what is compared is then the same. */

type Present<Members> = { [Key in keyof Members]?: Exclude<Members[Key], undefined> };

export function present<Members extends object>(members: Members): Present<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<Members>;
}
