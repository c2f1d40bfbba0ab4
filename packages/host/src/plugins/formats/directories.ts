/**
 * The folders that hold customizations of one kind each: Atrium's own, in which clients may write, and those of other
 * tools.
 */
import { access } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { foldedName } from '@atrium/core/util/paths.js';
import type { ChildCustomizationType } from '@atrium/protocol/ahp-1';
import { type DirectorySource, filesOf, hostId, type Scope } from './source.js';

interface CustomizationFolder {
  readonly path: string;
  readonly contents: ChildCustomizationType;
  /** Whether its prompts are commands, so that every Markdown file counts, whatever its ending. */
  readonly isOfCommands?: boolean;
}

const OWN: readonly CustomizationFolder[] = [
  { path: 'agents', contents: 'agent' },
  { path: 'skills', contents: 'skill' },
  { path: 'prompts', contents: 'prompt' },
  { path: 'rules', contents: 'rule' },
];

/** Folders of other tools. The host reads them; only those tools write them. */
const FOREIGN: readonly CustomizationFolder[] = [
  { path: '.github/agents', contents: 'agent' },
  { path: '.github/skills', contents: 'skill' },
  { path: '.github/prompts', contents: 'prompt' },
  { path: '.github/instructions', contents: 'rule' },
  { path: '.claude/agents', contents: 'agent' },
  { path: '.claude/skills', contents: 'skill' },
  { path: '.claude/commands', contents: 'prompt', isOfCommands: true },
  { path: '.opencode/command', contents: 'prompt', isOfCommands: true },
  { path: '.opencode/commands', contents: 'prompt', isOfCommands: true },
  { path: '.cursor/rules', contents: 'rule' },
];

/** Whether clients may save a file with these names below the user's own folder. */
export function isSavedForUser([known = '', ...rest]: readonly string[]): boolean {
  return OWN.some(({ path: own }) => own === known) && rest.length > 0;
}

/**
 * Whether clients may save a file with these names below a session's folder, at any depth. Undefined for files that are
 * not customizations. Clients may write neither customizations of other tools nor those that can start programs.
 */
export function isSavedInProject(names: readonly string[]): boolean | undefined {
  const folded = names.map(foldedName);
  const ours = folded.indexOf('.agents');
  if (ours >= 0) return isSavedForUser(names.slice(ours + 1));
  const text = `/${folded.join('/')}/`;
  return FOREIGN.some((known) => text.includes(`/${known.path}/`)) ? false : undefined;
}

/**
 * Whether a folder with these names below a session's folder contains folders of other tools: replacing it would change
 * them.
 */
export function holdsForeign(names: readonly string[]): boolean {
  const text = `/${names.map(foldedName).join('/')}`;
  return FOREIGN.some((known) => text.endsWith(`/${path.posix.dirname(known.path)}`));
}

/** Atrium's own directories are listed even before they exist, because the first saved file creates them. */
export async function projectDirectories(folder: string): Promise<DirectorySource[]> {
  const own = OWN.map((known) => ({ ...known, path: `.agents/${known.path}` }));
  const there = await Promise.all(
    FOREIGN.map(async (known) => ((await exists(path.join(folder, known.path))) ? [known] : [])),
  );
  return [
    ...own.map((known) => directory(folder, known, { scope: 'project', writable: true })),
    ...there.flat().map((known) => directory(folder, known, { scope: 'project', writable: false })),
  ];
}

export function userDirectories(userFolder: string): DirectorySource[] {
  return OWN.map((known) => directory(userFolder, known, { scope: 'user', writable: true }));
}

function directory(
  base: string,
  { path: below, contents, isOfCommands = false }: CustomizationFolder,
  { scope, writable }: { readonly scope: Scope; readonly writable: boolean },
): DirectorySource {
  const folder = path.join(base, below);
  const uri = pathToFileURL(folder).href;
  const name = scope === 'user' ? `~/.agents/${below}` : below;
  const files = () => filesOf(folder, scope, base);
  const known = { kind: 'directory' as const, id: hostId('directory', uri), uri, name, scope, contents, isOfCommands };
  return { ...known, files, folder, writable, base };
}

function exists(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}
