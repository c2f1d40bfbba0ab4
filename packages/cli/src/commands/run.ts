/** `atrium run`: one message, one answer. */
import type { Client } from '@atrium/client';
import type { Message } from '@atrium/protocol/ahp-1';
import { Command, Option } from 'commander';
import { HOST_HELP, type HostOptions, seconds, withHostOptions } from '../connect/host-options.js';
import { ExitCode, QuietExit, UsageError } from '../exit.js';
import { type Io, io, printJson, tell } from '../io.js';
import { APPROVALS, type Approvals } from '../run/run-turn.js';
import type { SessionChoice } from '../sessions/open-session.js';

const EXAMPLES = `
The answer goes to standard output, what happens meanwhile to standard error. A message of "-" is read from standard
input, as is one that is not given.
${HOST_HELP}

Examples:
  $ atrium run "what does this project do?"
  $ git diff | atrium run "write a commit message for this" -
  $ atrium run --approve all --timeout 600 "make the tests pass"
  $ atrium run --worktree --approve all "try the new parser"
  $ atrium run --session last "and now in French"
  $ atrium run --attach screen.png "why is this button cut off?"
  $ atrium run --session last --resume           continue where the last turn failed
  $ atrium run --json "list all files" | jq -r 'select(.type == "result").text'

Exit codes: 0 answered, 1 the turn failed, 2 called in a wrong way, 3 out of time, 4 no such session, 5 a tool was not
allowed to run, 130 interrupted.`;

interface RunCommandOptions extends HostOptions, SessionChoice {
  readonly approve: Approvals;
  readonly timeout?: number;
  readonly json?: boolean;
  readonly resume?: boolean;
  readonly attach?: readonly string[];
}

export function runCommand(): Command {
  const command = withSessionOptions(new Command('run'))
    .description('Send one message and print the answer')
    .argument('[message...]', 'the message')
    .addOption(
      new Option('--approve <what>', 'which tools may run without a person').choices(APPROVALS).default('reads'),
    )
    .addOption(new Option('--timeout <seconds>', 'stop after this long').argParser(seconds))
    .addOption(new Option('--json', 'print one JSON object per line and nothing else'))
    .option('--attach <file>', 'picture or file to send along; may be repeated', gather)
    .option('--resume', 'instead of a message: resume the last turn of --session where it failed')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium run --help shows all options)');
  withHostOptions(command);
  return command.action((words: string[]) => run(words, forSession<RunCommandOptions>(command)));
}

/** Drops the options for new sessions that come from the environment if an existing session continues. */
export function forSession<T extends SessionChoice>(command: Command): T {
  const options = command.opts<T>();
  if (options.session === undefined) return options;
  const isTyped = (name: string) => command.getOptionValueSource(name) !== 'env';
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => !['agent', 'model'].includes(name) || isTyped(name)),
  ) as T;
}

/** An option that may be given several times. */
function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function sessionOption(): Option {
  return new Option('--session <session>', 'continue this session; "last" is the newest');
}

/** Adds the options that choose the session, or describe a new one. */
export function withSessionOptions(command: Command): Command {
  return command
    .addOption(sessionOption())
    .addOption(new Option('--agent <id>', 'agent of the new session').env('ATRIUM_AGENT'))
    .addOption(new Option('--model <id>', 'model to use').env('ATRIUM_MODEL'))
    .option('--cwd <folder>', 'folder to work in (this one)')
    .option('--worktree', 'work on a new branch, in a git worktree of its own')
    .option('--branch <name>', 'branch from which the worktree begins (the current one)')
    .option('--config <name=value>', 'another setting of the new session; may be repeated', gather);
}

async function run(words: readonly string[], options: RunCommandOptions): Promise<void> {
  if (options.resume && (options.session === undefined || words.length > 0 || options.attach))
    throw new UsageError(
      '--resume goes on with the last turn of a session: name it with --session, write no message and attach nothing',
    );
  const text = options.resume ? undefined : await readPrompt(words, io().stdin);
  const stop = new AbortController();
  const interrupt = () => (stop.signal.aborted ? io().exit(ExitCode.Interrupted) : stop.abort(ExitCode.Interrupted));
  io().signals.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const timer = options.timeout && setTimeout(() => stop.abort(ExitCode.Timeout), options.timeout * 1_000);
  try {
    const { reachHost } = await import('../connect/reach.js');
    const { orStopped } = await import('../run/run-turn.js');
    const client = await orStopped(reachHost(options, { tell }), stop.signal);
    const { connectionNotes, orRefused } = await import('../connect/with-client.js');
    client.onStatus(connectionNotes(tell, { gone: 'Waiting for it.', refused: '' }));
    await orRefused(client, ask(client, { text, options, signal: stop.signal })).finally(() => client.close());
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    const code = stop.signal.reason as ExitCode;
    tell(code === ExitCode.Timeout ? `error: no answer within ${options.timeout} s; it was stopped` : 'Stopped.');
    throw new QuietExit(code);
  } finally {
    if (timer) clearTimeout(timer);
    io().signals.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

interface Question {
  /** Undefined when a turn resumes. */
  readonly text: string | undefined;
  readonly options: RunCommandOptions;
  readonly signal: AbortSignal;
}

async function ask(client: Client, { text, options, signal }: Question): Promise<void> {
  const { chooseSession } = await import('../sessions/open-session.js');
  const { orStopped, runTurn, stopTurn } = await import('../run/run-turn.js');
  const { jsonReport, textReport } = await import('../run/report.js');
  const { carriedSelection, userMessage } = await import('../sessions/turn-text.js');
  const { uri, model } = await orStopped(chooseSession(client, options), signal);
  if (options.json) printJson({ type: 'session', session: uri });
  const session = await orStopped(client.open(uri, { turns: { last: 1 } }), signal);
  const selection = { ...carriedSelection(session.state.chat), ...(model && { model }) };
  const attachments = await orStopped(attached(client, options.attach), signal);
  const report = options.json ? jsonReport() : textReport();
  try {
    const outcome = await runTurn(client, session, {
      ...{ signal, approvals: options.approve },
      message: text === undefined ? undefined : { ...userMessage(text, selection), ...attachments },
      onUpdate: (update) => report.update(update),
      onDenied: (toolName) => report.denied(toolName),
    });
    report.done(uri, outcome);
    if (outcome.turn.state !== 'complete') throw new QuietExit(ExitCode.Failed);
    if (outcome.denied > 0) throw new QuietExit(ExitCode.Denied);
  } catch (error) {
    report.close();
    if (signal.aborted) await stopTurn(client, session);
    throw error;
  }
}

async function attached(client: Client, files: readonly string[] | undefined): Promise<Pick<Message, 'attachments'>> {
  if (!files) return {};
  const { attachFiles } = await import('../sessions/attach-file.js');
  return { attachments: await attachFiles(client, files, tell) };
}

/** A message is for text of a person; tools read whole files. */
const PROMPT_MAX_BYTES = 1_000_000;

async function readPrompt(words: readonly string[], input: Io['stdin']): Promise<string> {
  const typed = words.filter((word) => word !== '-').join(' ');
  const wantsInput = words.includes('-') || (words.length === 0 && !input.isTTY);
  const piped = wantsInput ? await readAll(input) : '';
  const text = [typed, piped].filter((part) => part.trim() !== '').join('\n\n');
  if (text !== '') return text;
  throw new UsageError('there is no message. Give one: atrium run "why is the build red?"');
}

async function readAll(input: Io['stdin']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > PROMPT_MAX_BYTES) throw new UsageError(`the message is longer than ${PROMPT_MAX_BYTES} bytes`);
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString('utf8').trimEnd();
}
