/**
 * Runs one of the tools as a child: starts it without a shell, reads until it prints its address, and ends it with this
 * process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { io } from '../io.js';
import { printable } from '../text/printable.js';
import type { Tool, ToolRequest } from './tools.js';

/** Some tools first ask a server for a name. */
export const ADDRESS_TIMEOUT_MS = 60_000;
/** How long a child may take to end before it is killed. */
const END_TIMEOUT_MS = 5_000;
const SAID_MAX_CHARACTERS = 4_000;
const LINE_MAX_CHARACTERS = 4_000;

export interface Tunnel {
  /** `https://name`, from the output of the tool. */
  readonly origin: string;
  /** Resolves with the reason when the tool ends by itself. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

/** The file of a program on the PATH; undefined when there is none. */
export function onPath(name: string): string | undefined {
  const { env } = io();
  const endings = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD').split(';') : [''];
  const folders = (env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => endings.map((end) => path.join(folder, name + end))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface OpenTunnel {
  readonly tool: Tool;
  readonly request: ToolRequest;
  /** The public address, if the tool cannot know it. */
  readonly origin?: string | undefined;
  readonly timeoutMs?: number;
}

export async function openTunnel({
  tool,
  request,
  origin,
  timeoutMs = ADDRESS_TIMEOUT_MS,
}: OpenTunnel): Promise<Tunnel> {
  const file = onPath(tool.name);
  if (file === undefined)
    throw new Error(`${tool.name} is not installed, or not on the PATH. To get it: ${tool.install}`);
  const child = spawn(file, tool.args(request), {
    env: io().env,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  let said = '';
  let found: (address: string) => void = () => {};
  const address = new Promise<string>((resolve) => {
    found = resolve;
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (whole) => {
      const line = whole.slice(0, LINE_MAX_CHARACTERS);
      said = `${said}${line}\n`.slice(-SAID_MAX_CHARACTERS);
      const own = tool.originIn(line, request);
      if (own !== undefined) found(origin ?? own);
    });
  }
  const ended = endOf(child, tool, () => said);
  const close = () => end(child);
  const late = timeout(
    timeoutMs,
    () => `${tool.name} did not say its address. It said: ${printable(said.trim()) || 'nothing'}`,
  );
  try {
    const reason = ended.then((text) => {
      throw new Error(text);
    });
    return { origin: await Promise.race([address, reason, late.passed]), ended, close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    late.clear();
  }
}

/** Why it ended, in words that say what to do. Never rejects. */
function endOf(child: ChildProcess, tool: Tool, said: () => string): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(`${tool.name} cannot be started: ${message}`));
    child.once('close', (code, signal) => {
      const words = printable(said().trim());
      const hint = tool.loggedOut?.test(said()) && tool.login ? `\n${tool.login}` : '';
      resolve(`${tool.name} ended (${signal ?? `code ${code}`})${words && `: ${words}`}${hint}`);
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => child.once('close', resolve));
  child.kill();
  const killer = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS);
  await gone;
  clearTimeout(killer);
}

function timeout(ms: number, text: () => string): { readonly passed: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(text())), ms);
  });
  return { passed, clear: () => clearTimeout(timer) };
}
