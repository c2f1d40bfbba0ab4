/** The real command in a real terminal: tmux, driven key by key and read from its screen. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { COMMAND, surroundings } from './run-cli.js';

export const hasTmux = spawnSync('tmux', ['-V']).status === 0;

/** A machine may be busy with other things. */
const TIMEOUT_MS = 30_000;
/** The screen changes by itself only when something is written to it; this is for what a window takes a moment to do. */
const LOOK_AGAIN_MS = 250;

export interface TestTerminal {
  /** What is visible now. */
  screen(): Promise<string>;
  /** All that went up, and what is visible. */
  everything(): Promise<string>;
  keys(...keys: string[]): void;
  type(text: string): void;
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): void;
  sees(pattern: RegExp): Promise<string>;
}

/** A shell in a window, in which `atrium` is the command. */
export async function openTerminal(env: Readonly<Record<string, string>>, cwd: string): Promise<TestTerminal> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-tmux-'));
  const socket = path.join(folder, 'socket');
  const place = { cwd, env: { ...surroundings(env), TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' } };
  const start = ['-u', 'new-session', '-d', '-x', '90', '-y', '30', 'bash --norc --noprofile'];
  execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...start], place);
  const tmux = new Tmux(spawn('tmux', ['-S', socket, '-u', '-C', 'attach'], { ...place, stdio: 'pipe' }));
  onTestFinished(async () => {
    await tmux.end();
    await rm(folder, { recursive: true, force: true });
  });
  const screen = async () => (await tmux.run('capture-pane', '-p')).trimEnd();
  const terminal: TestTerminal = {
    screen,
    everything: async () => (await tmux.run('capture-pane', '-p', '-S', '-')).trimEnd(),
    keys: (...keys) => void tmux.run('send-keys', ...keys),
    type: (text) => void tmux.run('send-keys', '-l', text),
    async paste(text) {
      const file = path.join(folder, 'pasted');
      await writeFile(file, text);
      await tmux.run('load-buffer', file);
      await tmux.run('paste-buffer', '-p');
    },
    resize: (columns, rows) => void tmux.run('resize-window', '-x', String(columns), '-y', String(rows)),
    async sees(pattern) {
      for (const deadline = performance.now() + TIMEOUT_MS; performance.now() < deadline; ) {
        const changed = tmux.changed();
        const text = await screen();
        if (pattern.test(text)) return text;
        await changed;
      }
      throw new Error(`${pattern} never showed. The screen:\n${await screen()}`);
    },
  };
  await terminal.sees(/[#$]$/);
  terminal.type(`atrium() { ${process.execPath} ${COMMAND} "$@"; }; clear`);
  terminal.keys('Enter');
  return terminal;
}

interface Asked {
  readonly command: string;
  resolve(answer: string): void;
  reject(error: Error): void;
}

/** tmux in its control mode: one process takes all commands, answers them in their order, and tells of new output. */
class Tmux {
  readonly #client: ChildProcess;
  /** The first answer is for the command line. */
  readonly #asked: Asked[] = [{ command: 'attach', resolve: () => {}, reject: () => {} }];
  #answer: string[] | undefined;
  #onOutput = () => {};

  constructor(client: ChildProcess) {
    this.#client = client;
    const { stdout, stdin } = client;
    if (!stdout || !stdin) throw new Error('tmux was started without pipes');
    createInterface({ input: stdout }).on('line', (line) => this.#read(line));
    stdin.on('error', () => {});
    client.once('close', () => {
      for (const { command, reject } of this.#asked.splice(0)) reject(new Error(`tmux has ended before "${command}"`));
    });
  }

  run(...words: string[]): Promise<string> {
    const command = words.map(quoted).join(' ');
    const answered = new Promise<string>((resolve, reject) => this.#asked.push({ command, resolve, reject }));
    // What is typed fails later, where the test looks at the screen.
    answered.catch(() => {});
    this.#client.stdin?.write(`${command}\n`);
    return answered;
  }

  /** The window shows something new, or some time has passed. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_AGAIN_MS);
      this.#onOutput = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async end(): Promise<void> {
    if (this.#client.exitCode !== null) return;
    const closed = once(this.#client, 'close');
    void this.run('kill-server');
    await closed;
  }

  #read(line: string): void {
    if (this.#answer) this.#readAnswer(this.#answer, line);
    else if (line.startsWith('%begin ')) this.#answer = [];
    else if (line.startsWith('%output ')) this.#onOutput();
  }

  #readAnswer(answer: string[], line: string): void {
    const [, end] = /^%(end|error) \d+ \d+ \d+$/.exec(line) ?? [];
    if (end === undefined) return void answer.push(line);
    this.#answer = undefined;
    const asked = this.#asked.shift();
    if (end === 'end') asked?.resolve(answer.join('\n'));
    else asked?.reject(new Error(`tmux refused "${asked.command}": ${answer.join('\n')}`));
  }
}

/** As tmux reads it: nothing within single quotes means anything. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
