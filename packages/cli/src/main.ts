/** The entry point of the `atrium` command. */
import { run } from './cli.js';

/** A stray handle must not keep a finished process alive for longer than this. */
const LINGER_MS = 1_000;

async function main(): Promise<void> {
  process.exitCode = await run(process.argv);
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

void main();
