/** The `atrium` command, for those who start it from their own code. */
export { run } from './cli.js';
export { ExitCode } from './exit.js';
