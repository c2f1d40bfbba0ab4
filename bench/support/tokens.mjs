/** Tokens that say which one they are: `@000017 `. Whatever a server wraps around them, a reader finds them in the bytes. */

export const TOKEN_MARK = 0x40;
const DIGITS = 6;

export function tokenText(number) {
  return `@${String(number).padStart(DIGITS, '0')} `;
}

/** The number of the token whose mark is at `at`; undefined if the mark is none, for servers also send other bytes. */
export function readToken(bytes, at) {
  let number = 0;
  for (let index = at + 1; index <= at + DIGITS; index++) {
    const digit = bytes[index] - 48;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    number = number * 10 + digit;
  }
  return number;
}

/**
 * Takes `count` steps, `perSecond` of them. A step that is late is made up for, in a turn of the event loop of its own.
 * Answers when each step was taken, in nanoseconds of the monotonic clock, which all processes of a machine share.
 */
export async function paced({ count, perSecond, step }) {
  const sent = [];
  const start = process.hrtime.bigint();
  const everyNs = BigInt(Math.round(1e9 / perSecond));
  for (let index = 0; index < count; index++) {
    const waitMs = Number(start + BigInt(index) * everyNs - process.hrtime.bigint()) / 1e6;
    if (waitMs > 0.5) await new Promise((resolve) => setTimeout(resolve, waitMs));
    else await new Promise((resolve) => setImmediate(resolve));
    sent.push(process.hrtime.bigint().toString());
    step(index);
  }
  return sent;
}
