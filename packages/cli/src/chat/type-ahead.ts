/**
 * What is typed while nothing reads it: before a chat is ready, and between two sessions. The terminal would make lines of
 * it, with another Enter than the key has, and show it twice. It is held here instead, and the next reader gets it first.
 */
const BRACKETED_PASTE_ON = '\u001b[?2004h';
const BRACKETED_PASTE_OFF = '\u001b[?2004l';
const CTRL_C = '\u0003';
const CTRL_Z = '\u001a';
/** More than anybody types ahead on purpose. */
const HELD_MAX_CHARACTERS = 1_000_000;

let held = '';

/** Holds the keys until `work` is done. Ctrl+C and Ctrl+Z still mean what they mean to a program that does not read. */
export async function typingAhead<T>(work: () => Promise<T>): Promise<T> {
  const { stdin, stdout } = process;
  const giveBack = () => {
    stdout.write(BRACKETED_PASTE_OFF);
    stdin.setRawMode(false);
  };
  process.on('exit', giveBack);
  stdin.setRawMode(true).setEncoding('utf8').on('data', hold).resume();
  stdout.write(BRACKETED_PASTE_ON);
  try {
    return await work();
  } finally {
    stdin.off('data', hold).pause();
    process.off('exit', giveBack);
    giveBack();
  }
}

/** What was typed ahead, for whoever reads the keys now. */
export function takeTypedAhead(): string {
  const text = held;
  held = '';
  return text;
}

/** Text that was read too early, by somebody for whom it was not meant. */
export function holdTyped(text: string): void {
  held = (held + text).slice(0, HELD_MAX_CHARACTERS);
}

function hold(chunk: string): void {
  if (chunk.includes(CTRL_C)) {
    held = '';
    process.kill(process.pid, 'SIGINT');
  } else if (chunk.includes(CTRL_Z)) {
    process.kill(process.pid, 'SIGTSTP');
  } else {
    holdTyped(withEnter(chunk));
  }
}

/** What was typed before the keys were ours went through the terminal, which turned the key Enter into a line feed. */
function withEnter(chunk: string): string {
  return chunk.replace(/\r?\n/g, '\r');
}
