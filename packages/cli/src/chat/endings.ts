/** Ends that are not in the hands of a chat: nobody should have to guess why it is over. */
import { ExitCode, QuietExit } from '../exit.js';
import { tell } from '../output.js';

const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Waits for work while no chat has the terminal: between two sessions Ctrl+C is a signal, and not a key. */
export async function orInterrupted<T>(work: Promise<T>): Promise<T> {
  let end: () => void = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    end = () => reject(new QuietExit(ExitCode.Interrupted));
  });
  for (const signal of END_SIGNALS) process.on(signal, end);
  try {
    return await Promise.race([work, interrupted]);
  } catch (error) {
    if (error instanceof QuietExit && error.code === ExitCode.Interrupted) tell('Left.');
    throw error;
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, end);
  }
}

/** Says so when the process ends in the middle of everything, by whatever fault. The returned function ends the watch. */
export function neverSilently(): () => void {
  const say = (code: number) => tell(`The chat broke off (${code}). Its session is in the host: atrium attach last`);
  process.on('exit', say);
  return () => process.off('exit', say);
}
