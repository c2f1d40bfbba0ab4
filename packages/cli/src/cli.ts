/** All commands of `atrium`, and the one place where errors become exit codes. */

import { Command } from 'commander';
import { agentsCommand } from './commands/agents.js';
import { automationsCommand } from './commands/automations.js';
import { boardCommand } from './commands/board.js';
import { bridgeCommand } from './commands/bridge.js';
import { callCommand } from './commands/call.js';
import { changesCommand } from './commands/changes.js';
import { attachCommand, chatCommand } from './commands/chat.js';
import { chatsCommand } from './commands/chats.js';
import { clusterCommand } from './commands/cluster.js';
import { completionsCommand } from './commands/completions.js';
import { devicesCommand } from './commands/devices.js';
import { doctorCommand } from './commands/doctor.js';
import { filesCommand } from './commands/files.js';
import { importCommand } from './commands/import.js';
import { notifyCommand } from './commands/notify.js';
import { pairCommand } from './commands/pair.js';
import { permissionsCommand } from './commands/permissions.js';
import { providersCommand } from './commands/providers.js';
import { reachCommand } from './commands/reach.js';
import { rewindCommand } from './commands/rewind.js';
import { runCommand } from './commands/run.js';
import { searchCommand } from './commands/search.js';
import { serveCommand } from './commands/serve.js';
import { serviceCommand } from './commands/service.js';
import { sessionsCommand } from './commands/sessions.js';
import { shareCommand } from './commands/share.js';
import { terminalsCommand } from './commands/terminals.js';
import { trustCommand } from './commands/trust.js';
import { usageCommand } from './commands/usage.js';
import { watchCommand } from './commands/watch.js';
import { ExitCode, exitCodeOf, explain, QuietExit } from './exit.js';
import { endQuietlyWhenUnread, type Io, io, type Output, runWith } from './io.js';
import { version } from './places.js';

/** The width of help outside a terminal. */
const HELP_COLUMNS = 80;

const EXAMPLES = `
Examples:
  $ atrium                                       talk to an agent, here in the terminal
  $ atrium chat --agent offline                  the same, with a choice
  $ atrium run "what does this project do?"      one question, one answer
  $ atrium sessions list                         everything that was begun
  $ atrium service start                         keep a host running in the background
  $ atrium doctor                                what is wrong, and what to do`;

/** Runs one command to its end. `argv` is like `process.argv`; `given` replaces the process's own streams. */
export function run(argv: readonly string[], given: Io = io()): Promise<ExitCode> {
  return runWith(given, () => runHere(argv));
}

async function runHere(argv: readonly string[]): Promise<ExitCode> {
  endQuietlyWhenUnread();
  try {
    if (argv.length === ALONE) await alone();
    else await program().parseAsync([...argv]);
    return ExitCode.Ok;
  } catch (error) {
    const text = explain(error);
    if (text !== undefined) io().stderr.write(`${text}\n`);
    return exitCodeOf(error);
  }
}

/** The whole command line. Commands load their modules when they run, so that `--help` is quick. */
export function program(): Command {
  const command = new Command('atrium')
    .description('A portable host for AI coding agents')
    .version(version(), '-V, --version')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium --help shows all commands)')
    .exitOverride();
  // `addCommand` does not inherit this, and every error has to come back here.
  for (const each of commands(() => command)) command.addCommand(each.exitOverride());
  command.hook('postAction', (_, done) => (done.name() === 'doctor' ? undefined : tellUpdate()));
  sayThrough(command);
  return command;
}

/** The length of `argv` without arguments: Node and the script. */
const ALONE = 2;

/** `atrium` without a command: a chat in a terminal; elsewhere the help, because the command is missing. */
async function alone(): Promise<void> {
  const { stdin, stdout, env } = io();
  if (!stdin.isTTY || !stdout.isTTY || env.TERM === 'dumb') {
    program().outputHelp({ error: true });
    throw new QuietExit(ExitCode.Usage);
  }
  await (await import('./chat/run-chat.js')).chat({ start: true });
  await tellUpdate();
}

/** Only in a terminal. `atrium doctor` reports updates by itself. */
async function tellUpdate(): Promise<void> {
  const { stdout, stderr } = io();
  if (stdout.isTTY && stderr.isTTY) await (await import('./update-notice.js')).tellUpdate();
}

/** Sends help and errors of commander through the command's own streams. */
function sayThrough(command: Command): void {
  command.configureOutput({
    writeOut: (text) => void io().stdout.write(text),
    writeErr: (text) => void io().stderr.write(text),
    getOutHelpWidth: () => columnsOf(io().stdout),
    getErrHelpWidth: () => columnsOf(io().stderr),
  });
  for (const each of command.commands) sayThrough(each);
}

function columnsOf({ isTTY, columns = HELP_COLUMNS }: Output): number {
  return isTTY ? columns : HELP_COLUMNS;
}

function commands(root: () => Command): Command[] {
  return [
    ...[
      chatCommand(),
      attachCommand(),
      runCommand(),
      sessionsCommand(),
      permissionsCommand(),
      searchCommand(),
      chatsCommand(),
      watchCommand(),
      terminalsCommand(),
    ],
    ...[
      changesCommand(),
      rewindCommand(),
      boardCommand(),
      filesCommand(),
      automationsCommand(),
      importCommand(),
      usageCommand(),
      notifyCommand(),
      shareCommand(),
    ],
    ...[
      serveCommand(),
      serviceCommand(),
      bridgeCommand(),
      reachCommand(),
      clusterCommand(),
      agentsCommand(),
      providersCommand(),
      pairCommand(),
      devicesCommand(),
      trustCommand(),
    ],
    ...[callCommand(), doctorCommand(), completionsCommand(root)],
  ];
}
