/** Names for what is not finished yet. It lies beside what it will become, so that it only needs to be renamed. */

const PATTERN = /^\.atrium-[\da-f-]{36}\.tmp$/;

export function temporaryName(): string {
  return `.atrium-${crypto.randomUUID()}.tmp`;
}

export function isTemporary(name: string): boolean {
  return PATTERN.test(name);
}
