/**
 * Programs that run another program: `env`, `timeout 10`, `xargs`, `find -exec`, `sh -c`. Rules are about the program
 * that they run.
 */
import { readShellLine, type ShellWord, type SimpleCommand } from './shell-line.js';

export type Wrapped =
  /** The commands that it runs are known. */
  | { readonly kind: 'inner'; readonly commands: readonly SimpleCommand[] }
  /** It runs something that is not examined further. `words`: where that may begin. */
  | { readonly kind: 'opaque'; readonly words: readonly ShellWord[] };

/** Wrappers with so many options that it is uncertain where the inner command begins. */
const OPAQUE: ReadonlySet<string> = new Set(
  'sudo doas su runuser pkexec chroot unshare nsenter setsid stdbuf ionice chrt taskset setarch strace ltrace gdb valgrind perf watch parallel entr flock script expect ssh npx bunx pnpx dlx uvx pipx busybox toybox systemd-run at batch crontab env xargs find sh bash dash zsh ksh ash fish csh tcsh pwsh powershell cmd eval exec command builtin nohup nice time timeout coproc rlwrap torsocks proxychains fakeroot dbus-run-session xvfb-run screen tmux make-kpkg hyperfine caffeinate arch open osascript'.split(
    ' ',
  ),
);

/** What a wrapper runs; undefined for a program that runs no other, as far as is known. */
export function wrapped({ words, assignments }: SimpleCommand): Wrapped | undefined {
  const [program, ...args] = words;
  const name = baseName(program?.text ?? '');
  if (!OPAQUE.has(name)) return undefined;
  // Only under its plain name is it certainly this program.
  const known = program?.text === name ? innerOf(name, args) : undefined;
  // `find` without -exec, and a shell without arguments, run no other program.
  if (known === 'nothing') return undefined;
  if (!known) return { kind: 'opaque', words: args };
  const commands = typeof known === 'string' ? [] : known;
  return {
    kind: 'inner',
    commands: commands.map((each) => ({ ...each, assignments: [...assignments, ...each.assignments] })),
  };
}

export function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

export function isWrapper(program: string): boolean {
  return OPAQUE.has(baseName(program));
}

type Inner = readonly SimpleCommand[] | 'nothing' | undefined;

function innerOf(name: string, args: readonly ShellWord[]): Inner {
  switch (name) {
    case 'nohup':
    case 'command':
      return command(args);
    case 'time':
      return command(args[0]?.text === '-p' ? args.slice(1) : args);
    case 'nice':
      if (args[0]?.text === '-n' && /^-?\d+$/.test(args[1]?.text ?? '')) return command(args.slice(2));
      return command(args);
    case 'timeout':
      return innerOfTimeout(args);
    case 'env':
      return innerOfEnv(args);
    case 'sh':
    case 'bash':
    case 'dash':
      return innerOfShell(args);
    case 'xargs':
      return innerOfXargs(args);
    case 'find':
      return innerOfFind(args);
    default:
      return undefined;
  }
}

/** The words as a command, unless the first one is an option. */
function command(words: readonly ShellWord[], assignments: readonly string[] = []): Inner {
  const [first] = words;
  if (first?.kind !== 'literal' || first.text.startsWith('-') || first.text === '') return undefined;
  return [{ assignments, words, redirections: [] }];
}

function innerOfTimeout(args: readonly ShellWord[]): Inner {
  const at = args.findIndex(
    ({ text }) => !/^(?:-k\d+[smhd]?|--foreground|--preserve-status|-v|--kill-after=\d+[smhd]?)$/.test(text),
  );
  const isTime = at >= 0 && /^\d+(?:\.\d+)?[smhd]?$/.test(args[at]?.text ?? '');
  return isTime ? command(args.slice(at + 1)) : undefined;
}

function innerOfEnv(args: readonly ShellWord[]): Inner {
  const at = args.findIndex(({ text, kind }) => kind !== 'literal' || !/^[A-Za-z_]\w*=/.test(text));
  // Without a command, `env` prints the environment, including all secrets.
  if (at < 0) return undefined;
  return command(
    args.slice(at),
    args.slice(0, at).map(({ text }) => text),
  );
}

function innerOfShell(args: readonly ShellWord[]): Inner {
  const [flag, script, ...rest] = args;
  if (flag?.text !== '-c' || script?.kind !== 'literal' || rest.length > 0) return undefined;
  const line = readShellLine(script.text);
  return line.kind === 'clear' && line.commands.length > 0 ? line.commands : undefined;
}

/** Something that a wrapper adds, known only at run time. */
const LATER: ShellWord = { text: '', kind: 'made' };

function innerOfXargs(args: readonly ShellWord[]): Inner {
  let at = 0;
  for (; at < args.length; at += 1) {
    const { text = '' } = args[at] ?? {};
    if (/^-(?:0|r|t|n\d+|P\d+|L\d+)$/.test(text)) continue;
    if (/^-[nPL]$/.test(text) && /^\d+$/.test(args[at + 1]?.text ?? '')) at += 1;
    else break;
  }
  return command(args.length > at ? [...args.slice(at), LATER] : []);
}

function innerOfFind(args: readonly ShellWord[]): Inner {
  const starts = args.flatMap(({ text }, index) => (/^-(?:exec|execdir|ok|okdir)$/.test(text) ? [index] : []));
  if (starts.length === 0) return 'nothing';
  const found: SimpleCommand[] = [];
  for (const start of starts) {
    // In a folder that anyone may have filled, a bare name is safe: it is found only through PATH.
    if (args[start]?.text !== '-exec') return undefined;
    const length = args.slice(start + 1).findIndex(({ text }) => text === ';' || text === '+');
    if (length < 1) return undefined;
    const words = args.slice(start + 1, start + 1 + length).map((word) => (word.text.includes('{}') ? LATER : word));
    const inner = command(words);
    if (typeof inner !== 'object') return undefined;
    found.push(...inner);
  }
  // Its own options, such as -delete, count as well: add the command itself without what it runs.
  const own = args.filter((_, index) => !starts.some((start) => index >= start && index <= endOf(args, start)));
  return [...found, { assignments: [], words: [{ text: 'find', kind: 'literal' }, ...own], redirections: [] }];
}

function endOf(args: readonly ShellWord[], start: number): number {
  const end = args.findIndex(({ text }, index) => index > start && (text === ';' || text === '+'));
  return end < 0 ? args.length : end;
}
