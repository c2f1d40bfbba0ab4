/** Markdown in which the address of a link stands behind its words, for texts that somebody agrees to. */
import type { Token } from 'marked';

/** Tells it from the same block without addresses. */
const MARK = '\u0000addresses';

export function withAddresses(token: Token): Token {
  const copy = copyOf(token) as Token;
  return { ...copy, raw: `${token.raw}${MARK}` };
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((each) => [copyOf(each), ...addressOf(each)]);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
}

function addressOf(token: unknown): Token[] {
  const { type, href, text } = (token ?? {}) as { type?: unknown; href?: unknown; text?: unknown };
  if (type !== 'link' || typeof href !== 'string' || href === text || href === `mailto:${text}`) return [];
  return [{ type: 'text', raw: '', text: ` (${href})`, escaped: false }];
}
