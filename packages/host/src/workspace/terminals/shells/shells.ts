/** The shells of people, and the private folder with what they read at their start. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeFolder } from '../../../core/util/folders.js';
import { shellEnvironment } from '../environment.js';
import { BASH_FILE, BASH_SCRIPT } from './bash.js';
import { type Launch, launchOf, userShell } from './launch.js';
import { ZSH_FILES } from './zsh.js';

export interface ShellsOptions {
  /** The program that people get; without one, the user's shell. */
  readonly shell?: string | undefined;
  /** Where what it reads at its start is put, which nobody else may write to; without one, a folder for now. */
  readonly scriptsFolder?: string | undefined;
}

export class Shells {
  #folder: Promise<string> | undefined;

  constructor(private readonly options: ShellsOptions) {}

  async launch(): Promise<Launch> {
    this.#folder ??= writeScripts(this.options.scriptsFolder);
    const [shell, scripts] = await Promise.all([this.options.shell ?? userShell(), this.#folder]);
    return launchOf({ shell, env: shellEnvironment(), scripts });
  }

  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined);
    this.#folder = undefined;
    if (folder !== undefined && folder !== this.options.scriptsFolder)
      await rm(folder, { recursive: true, force: true });
  }
}

/** `mkdtemp` makes a folder that nobody else can look into or write to. */
async function writeScripts(wanted: string | undefined): Promise<string> {
  if (wanted !== undefined) await makeFolder(wanted, { mode: 0o700 });
  const folder = wanted ?? (await mkdtemp(path.join(tmpdir(), 'atrium-shell-')));
  const files = Object.entries({ ...ZSH_FILES, [BASH_FILE]: BASH_SCRIPT });
  await Promise.all(files.map(([name, text]) => writeFile(path.join(folder, name), text, { mode: 0o600 })));
  return folder;
}
