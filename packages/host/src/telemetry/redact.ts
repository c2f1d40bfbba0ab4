/** A message without what must not be written down: secrets are blanked, long texts are cut. */

/** Texts beyond this are content, not protocol. */
export const SHOWN_TEXT_MAX_CHARACTERS = 80;
/** Only so much of a text is looked through for secrets. */
const LOOKED_AT_MAX_CHARACTERS = 2 * 2 ** 10;
const SHOWN_ITEMS_MAX = 50;
const DEPTH_MAX = 12;
/** Members with such a name hold secrets, however deep inside. Numbers do not: `inputTokens` is a count. */
const SECRET_NAME =
  /tokens?$|secret|passw|passphrase|_pass$|authorization$|pairing|(?:api|access|private).?key|_key$|cookie|credential/i;
/** Words that are secrets by their looks, wherever they stand: what GitHub, model servers and the like hand out. */
const SECRET_LOOKS =
  /\b(?:gh[pousr]_|github_pat_|sk-|xox[a-z]-|AKIA|eyJ)[\w\-.]{12,}|\bBearer\s+\S+|(?<=:\/\/)[^\s/@]+(?=@)|(?<=[?&#][\w-]*(?:token|key|code|secret|password|signature|sig)=)[^\s&#]+/gi;
/** Sessions of earlier versions hold questions with such an id: their words are a pairing code. */
const PAIRING = /^pair-/;
/** What people type into a terminal, and what it shows, is anything: passwords, too. So is what they answer, or write. */
const TERMINAL = /^terminal\/(?:input|data)$/;
const HIDDEN = '[hidden]';

type Members = Readonly<Record<string, unknown>>;

export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return shortened(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '…';
  if (Array.isArray(value)) {
    const shown = value.slice(0, SHOWN_ITEMS_MAX).map((item) => redacted(item, depth + 1));
    return value.length > SHOWN_ITEMS_MAX ? [...shown, `… ${value.length} in all`] : shown;
  }
  const members = value as Members;
  return Object.fromEntries(
    Object.entries(members).map(([key, member]) => [
      key,
      isSecret(key, members) ? blanked(member) : redacted(member, depth + 1),
    ]),
  );
}

function isSecret(key: string, { id, type, kind, encoding, commandId, session }: Members): boolean {
  switch (key) {
    case 'code':
      // Beside the session that it opens it is a pairing code, everywhere else what went wrong.
      return session !== undefined;
    case 'message':
      return PAIRING.test(String(id));
    case 'data':
      // With an encoding, it is the content of a file.
      return encoding !== undefined || TERMINAL.test(String(type));
    case 'commandLine':
    case 'output':
      return commandId !== undefined;
    case 'value':
      return type === 'unclassified' || kind === 'text';
    case 'freeformValues':
      return true;
    default:
      return SECRET_NAME.test(key);
  }
}

/** Nothing of it is shown, but that it is there. */
function blanked(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : HIDDEN;
}

function shortened(text: string): string {
  const open = text.slice(0, LOOKED_AT_MAX_CHARACTERS).replace(SECRET_LOOKS, HIDDEN);
  if (text.length <= SHOWN_TEXT_MAX_CHARACTERS) return open;
  return `${open.slice(0, SHOWN_TEXT_MAX_CHARACTERS)}… (${text.length} characters)`;
}
