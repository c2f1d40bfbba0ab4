/** Options that several commands share. */
import { type Command, InvalidArgumentError, Option } from 'commander';

export interface HostOptions {
  readonly dataDir?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly token?: string;
  /** How Atrium is called on the other machine, for `ssh://` addresses. */
  readonly remoteAtrium?: string;
  /** False with `--no-start`. */
  readonly start: boolean;
}

/** The part of the help that all commands share. */
export const HOST_HELP = `
Without --url, the command uses the host of the data folder. If none runs, it starts one in the background, which ends by itself after it has been idle for a while. --url takes any host of the Agent Host Protocol, 1.0 or 0.9; the token may stand in it (?tkn= or ?token=), in a file, in --token, or in ATRIUM_TOKEN. ssh://user@host is the host of a user there: ssh runs Atrium on that machine, and no token is needed.`;

export function withHostOptions(command: Command): Command {
  return command
    .addOption(new Option('--data-dir <folder>', 'data folder of the host').env('ATRIUM_DATA_DIR'))
    .addOption(new Option('--url <url>', 'another host: ws://name:port').env('ATRIUM_URL'))
    .addOption(new Option('--token-file <file>', 'file with its token').env('ATRIUM_TOKEN_FILE'))
    .addOption(
      new Option('--token <token>', 'its token; other users of this machine can see it').conflicts('tokenFile'),
    )
    .addOption(
      new Option('--remote-atrium <command>', 'command that runs Atrium on the machine of ssh:// (atrium)').env(
        'ATRIUM_REMOTE_COMMAND',
      ),
    )
    .option('--no-start', 'do not start a host if none runs');
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON and nothing else');
}

/** Eleven days. Node's timers fire at once if they have to wait for more than twice as long. */
const SECONDS_MAX = 1_000_000;

/** For options that take a time. */
export function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= SECONDS_MAX) return value;
  throw new InvalidArgumentError(`Give a number of seconds, at most ${SECONDS_MAX}.`);
}

export function secondsOrNever(text: string): number {
  return text.trim() === '0' ? 0 : seconds(text);
}

export function wholeNumber(text: string): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0) return value;
  throw new InvalidArgumentError('Give a whole number above 0.');
}

/** `group` is the parent command as people type it; `help` is its text with the examples. */
export function withOwnExamples(command: Command, group: string, help: string): Command {
  const typed = `atrium ${group} ${command.name()}`;
  const own = help.split('\n').filter((line) => line.startsWith('  $ ') && line.includes(typed));
  return command.addHelpText('after', ['', 'Examples:', ...own].join('\n'));
}
