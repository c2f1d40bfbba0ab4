/** The addresses behind names of files, and the arguments that make an editor begin at a line. */
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FileReference, fileReferenceUri, readFileReference } from '@atrium/protocol/ahp-1';

/** `ATRIUM_EDITOR_LINKS`: programs that open addresses of their own. Without one it is a `file:` address, which has no lines. */
const PROGRAMS = ['vscode', 'vscode-insiders', 'cursor', 'zed'];
const JETBRAINS = ['idea', 'webstorm', 'pycharm'];

type Env = Readonly<Record<string, string | undefined>>;

/** Addresses of files, relative to a folder and for the machine of that folder. */
export function fileAddresses(folder: string | undefined, env: Env): (place: string) => string | undefined {
  const program = env.ATRIUM_EDITOR_LINKS ?? '';
  return (text) => {
    const place = readFileReference(text);
    const uri = place && fileReferenceUri(place.path, folder);
    return uri === undefined ? undefined : addressOf(program, uri, place ?? {});
  };
}

function addressOf(program: string, uri: string, { line, column }: Partial<FileReference>): string {
  const path = uri.slice('file://'.length);
  const place = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;
  if (PROGRAMS.includes(program)) return `${program}://file${path}${place}`;
  if (JETBRAINS.includes(program))
    return `${program}://open?file=${path.replaceAll('&', '%26')}${line === undefined ? '' : `&line=${line}`}`;
  return uri;
}

export interface EditorCommand {
  readonly program: string;
  readonly args: readonly string[];
}

/** `$VISUAL`, or else `$EDITOR`, at a place; undefined if neither is set. Runs without a shell. */
export function editorCommand(env: Env, uri: string, place: Omit<FileReference, 'path'>): EditorCommand | undefined {
  const [program, ...given] = wordsOf(env.VISUAL || env.EDITOR || '');
  if (program === undefined) return undefined;
  const file = fileURLToPath(uri);
  return {
    program,
    args: [...given, ...placeArguments(basename(program).replace(/\.(?:exe|cmd)$/i, ''), file, place)],
  };
}

/** Words between blanks; quotes keep blanks together, as in `"/opt/my editor" --wait`. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}

function placeArguments(editor: string, file: string, { line, column }: Omit<FileReference, 'path'>): string[] {
  if (line === undefined) return [file];
  const at = `${line}${column === undefined ? '' : `:${column}`}`;
  if (/^(?:code|code-insiders|codium|cursor|windsurf|positron)$/.test(editor)) return ['--goto', `${file}:${at}`];
  if (/^(?:subl|zed|zeditor|hx|helix|lapce)$/.test(editor)) return [`${file}:${at}`];
  if (/^(?:emacs|emacsclient|micro|kak|gedit)$/.test(editor)) return [`+${at}`, file];
  if (/^(?:nano|pico)$/.test(editor)) return [`+${at.replace(':', ',')}`, file];
  if (/^(?:idea|webstorm|pycharm|goland|clion|rider|phpstorm|rubymine)$/.test(editor))
    return ['--line', String(line), file];
  if (editor === 'mate') return ['--line', at, file];
  return /^(?:vi|vim|nvim|view|gvim|mvim|joe|jed|less|ne|ee|mg)$/.test(editor) ? [`+${line}`, file] : [file];
}

/** Gives the terminal to the program until it ends. */
export function runEditor({ program, args }: EditorCommand, env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { stdio: 'inherit', env, shell: false });
    child.once('error', (error) =>
      reject(new Error(`${program} does not start (${error.message}): is $VISUAL or $EDITOR right?`)),
    );
    child.once('exit', (code) =>
      code === 0 || code === null ? resolve() : reject(new Error(`${program} ended with ${code}`)),
    );
  });
}
