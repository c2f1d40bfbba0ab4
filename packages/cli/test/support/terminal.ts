/** The real command in a real terminal: tmux, driven key by key and read from its screen. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { COMMAND, surroundings } from './run-cli.js';

export const hasTmux = spawnSync('tmux', ['-V']).status === 0;

/** A machine may be busy with other things. */
const TIMEOUT_MS = 30_000;

export interface TestTerminal {
  /** What is visible now. */
  screen(): string;
  /** All that went up, and what is visible. */
  everything(): string;
  keys(...keys: string[]): void;
  type(text: string): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  sees(pattern: RegExp): Promise<string>;
}

/** A shell in a window, in which `atrium` is the command. */
export async function openTerminal(env: Readonly<Record<string, string>>, cwd: string): Promise<TestTerminal> {
  const socket = `atrium-${randomUUID()}`;
  const tmux = (...args: string[]) => tmuxWith('', ...args);
  const tmuxWith = (input: string, ...args: string[]) =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
      ...{ encoding: 'utf8', input },
      env: { ...surroundings(env), TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' },
      cwd,
    });
  tmux('-u', 'new-session', '-d', '-x', '90', '-y', '30', 'bash --norc --noprofile');
  onTestFinished(() => void spawnSync('tmux', ['-L', socket, 'kill-server']));
  const screen = () => tmux('capture-pane', '-p').trimEnd();
  const terminal: TestTerminal = {
    screen,
    everything: () => tmux('capture-pane', '-p', '-S', '-').trimEnd(),
    keys: (...keys) => void tmux('send-keys', ...keys),
    type: (text) => void tmux('send-keys', '-l', text),
    paste(text) {
      tmuxWith(text, 'load-buffer', '-');
      tmux('paste-buffer', '-p');
    },
    resize: (columns, rows) => void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    async sees(pattern) {
      for (const deadline = performance.now() + TIMEOUT_MS; performance.now() < deadline; ) {
        const text = screen();
        if (pattern.test(text)) return text;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`${pattern} never showed. The screen:\n${screen()}`);
    },
  };
  await terminal.sees(/[#$]$/);
  terminal.type(`atrium() { ${process.execPath} ${COMMAND} "$@"; }; clear`);
  terminal.keys('Enter');
  return terminal;
}
