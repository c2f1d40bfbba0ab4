/**
 * Words of a command that run another program or write a file. A star in a rule does not cover them: they are allowed
 * only if the rule itself names them. The table has the programs that agents use most, and what all programs share.
 */
import type { ShellWord } from './shell-line.js';

interface Risks {
  /** Long options, which most programs also accept shortened: `--upload-p`. */
  readonly long?: readonly string[];
  /** Letters of short options, also combined with others: `-xc`. */
  readonly short?: string;
  /** Whole words, possibly with a value after `=`. */
  readonly words?: readonly string[];
  /** Any word that matches. */
  readonly pattern?: RegExp;
}

/** Risks of any program. */
const EVERYWHERE: Risks = {
  words: [
    '--exec',
    '--exec-batch',
    '--eval',
    '--command',
    '--rsh',
    '--rsync-path',
    '--to-command',
    '--use-compress-program',
    '--checkpoint-action',
    '--upload-pack',
    '--receive-pack',
    '--ext-diff',
    '--config-env',
    '--exec-path',
    '--script-shell',
    '--compress-program',
    '--open-files-in-pager',
    '--pager',
    '--editor',
    '--init-file',
    '--rcfile',
    '--output',
    '--toolexec',
  ],
  pattern:
    /ProxyCommand|LocalCommand|KnownHostsCommand|^ext::|core\.(?:sshCommand|pager|editor|fsmonitor|hooksPath|askPass)/i,
}; // prettier-ignore

const INTERPRETER: Risks = { long: ['--eval', '--print', '--require', '--import', '--loader'], short: 'ecprmM' };
const SHELL: Risks = { long: ['--rcfile', '--init-file'], short: 'ceiosOlx' };
const REMOTE: Risks = { long: ['--rsh', '--rsync-path'], short: 'oFSeJWiIDRL' };

const PROGRAMS: Readonly<Record<string, Risks>> = {
  find: {
    words: ['-exec', '-execdir', '-ok', '-okdir', '-delete', '-fprint', '-fprint0', '-fprintf', '-fls'],
  },
  fd: { long: ['--exec', '--exec-batch'], short: 'xX' },
  rg: { long: ['--pre', '--hostname-bin', '--search-zip'], short: 'z' },
  sort: { long: ['--output', '--compress-program', '--temporary-directory', '--files0-from'], short: 'oT' },
  tree: { short: 'oR' },
  tar: {
    long: [
      '--to-command',
      '--checkpoint-action',
      '--use-compress-program',
      '--info-script',
      '--new-volume-script',
      '--rsh-command',
      '--rmt-command',
      '--absolute-names',
      '--directory',
    ],
    short: 'IFPC',
    pattern: /^[A-Za-z]*[IFP]/,
  },
  zip: { long: ['--unzip-command'], short: 'T', words: ['-TT'] },
  split: { long: ['--filter'] },
  ssh: REMOTE,
  scp: REMOTE,
  sftp: REMOTE,
  rsync: REMOTE,
  curl: {
    long: [
      '--output',
      '--remote-name',
      '--output-dir',
      '--config',
      '--upload-file',
      '--form',
      '--data',
      '--dump-header',
      '--cookie-jar',
      '--trace',
      '--trace-ascii',
      '--engine',
      '--stderr',
      '--netrc-file',
      '--proxy',
      '--unix-socket',
    ],
    short: 'oOKTFdDcxXJ',
    pattern: /^--(?:data|json|form|proxy|url-query)/,
  },
  wget: {
    long: [
      '--output-document',
      '--output-file',
      '--append-output',
      '--directory-prefix',
      '--execute',
      '--post-file',
      '--post-data',
      '--body-file',
      '--use-askpass',
      '--config',
      '--input-file',
    ],
    short: 'OoaPei',
  },
  make: {
    long: ['--eval', '--file', '--makefile', '--directory'],
    short: 'fCE',
    pattern: /^(?:SHELL|MAKEFLAGS|\w*SHELL\w*)[:+?]?=/,
  },
  npm: {
    long: [
      '--prefix',
      '--script-shell',
      '--userconfig',
      '--globalconfig',
      '--node-options',
      '--shell',
      '--git',
      '--editor',
      '--viewer',
    ],
    short: 'C',
  },
  pnpm: { long: ['--dir', '--script-shell', '--shell-emulator', '--config'], short: 'C' },
  yarn: { long: ['--cwd', '--use-yarnrc', '--script-shell'] },
  cargo: { long: ['--config', '--manifest-path'], words: ['-C', '-Z'] },
  go: { words: ['-exec', '-toolexec', '-overlay', '-C', '-o', '-modfile', '-ldflags', '-gcflags', '-vettool'] },
  gcc: { words: ['-wrapper', '-o'], pattern: /^-(?:fplugin|B|specs|o)/ },
  node: INTERPRETER,
  deno: { words: ['eval'], long: ['--allow-all', '--config', '--import-map'], short: 'A' },
  bun: { long: ['--eval', '--preload', '--cwd'], short: 'er' },
  python: INTERPRETER,
  python3: INTERPRETER,
  perl: { short: 'eEMmIinpxd' },
  ruby: { short: 'erIinpxC' },
  php: { short: 'rRBEFdc' },
  sh: SHELL,
  bash: SHELL,
  dash: SHELL,
  zsh: SHELL,
  ksh: SHELL,
  awk: {
    pattern: /system|getline|[|>@]/,
    short: 'fiElDd',
    long: ['--file', '--exec', '--load', '--include', '--pretty-print', '--profile'],
  },
  gawk: {
    pattern: /system|getline|[|>@]/,
    short: 'fiElDdop',
    long: ['--file', '--exec', '--load', '--include', '--pretty-print'],
  },
  man: { short: 'PH', long: ['--pager', '--html'] },
  less: { short: 'oOkK', pattern: /^\+|[!|]/ },
  docker: {
    words: ['run', 'exec', 'compose', 'build', 'cp', 'plugin'],
    short: 'vH',
    long: ['--host', '--config', '--context'],
  },
  kubectl: { words: ['exec', 'cp', 'debug', 'run', 'plugin'], long: ['--kubeconfig'] },
  // In bash, `%n` and `-v` set a variable, such as PATH, and a subscript after `-v` is evaluated: `test -v
  // 'a[$(evil)]'`.
  printf: { short: 'v', pattern: /(?<!%)(?:%%)*%[^%A-Za-z]*[hlLjztq]*n/ },
  test: { words: ['-v', '-R'], pattern: /\w\[/ },
  '[': { words: ['-v', '-R'], pattern: /\w\[/ },
  file: { long: ['--compile', '--magic-file'], short: 'Cm' },
  // Prints every variable, including all secrets.
  jq: { pattern: /\benv\b|\$ENV/ },
  date: { short: 's', long: ['--set', '--file'] },
  vim: { short: 'ceSusW', pattern: /^\+/ },
  vi: { short: 'ceSusW', pattern: /^\+/ },
  sqlite3: {
    pattern: /\.(?:shell|system|output|once|import|load|open|read|cd)|writefile|load_extension|edit\(/i,
    words: ['-cmd', '-init'],
  },
  psql: { short: 'fcvo', pattern: /\\!|\bprogram\b/i },
}; // prettier-ignore

/** Options of git before its subcommand that do not change what runs. */
const GIT_PLAIN = new Set([
  '--no-pager',
  '-P',
  '--no-optional-locks',
  '--no-replace-objects',
  '--literal-pathspecs',
  '--version',
  '--help',
]);
const GIT_LONG = [
  '--upload-pack',
  '--receive-pack',
  '--exec',
  '--ext-diff',
  '--textconv',
  '--filters',
  '--output',
  '--output-directory',
  '--open-files-in-pager',
  '--config',
  '--config-env',
  '--template',
  '--interactive',
  '--edit-todo',
  '--editor',
  '--tool',
  '--extcmd',
  '--remote',
  '--separate-git-dir',
  '--reference',
  '--git-dir',
  '--work-tree',
  '--gpg-sign',
  '--no-index',
  '--strategy',
  '--file',
  '--pathspec-from-file',
  '--recurse-submodules',
  '--contents',
  '--attr-source',
  '--trailer',
]; // prettier-ignore
/** Letters of risky short options, by subcommand. */
const GIT_SHORT: Readonly<Record<string, string>> = {
  clone: 'cu',
  fetch: 'u',
  pull: 'us',
  'ls-remote': 'u',
  grep: 'Of',
  rebase: 'xisS',
  archive: 'o',
  'format-patch': 'o',
  config: 'ef',
  difftool: 'xt',
  merge: 'sS',
  commit: 'SFt',
  tag: 'suF',
  init: 'c',
  blame: 'S',
};
/** Subcommands that exist to run programs, or to change what git runs. */
const GIT_RUNS = new Set(
  'bisect submodule filter-branch difftool mergetool config hook daemon instaweb send-email credential remote-ext maintenance web--browse bugreport fsmonitor--daemon remote-fd upload-pack receive-pack shell http-backend cvsserver p4 svn gui citool worktree'.split(
    ' ',
  ),
);

/** The indexes of words that a rule must name, apart from the program itself. */
export function riskyWords(program: string, words: readonly ShellWord[]): number[] {
  const risks = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined;
  const own = program === 'git' ? riskyInGit(words) : program === 'sed' ? riskyInSed(words) : [];
  const found = words.flatMap((word, index) => {
    if (index === 0) return [];
    return isRisky(word.text, EVERYWHERE) || (risks && isRisky(word.text, risks)) ? [index] : [];
  });
  return [...new Set([...own, ...found])];
}

function isRisky(word: string, { long = [], short = '', words = [], pattern: looks }: Risks): boolean {
  const [name = word] = word.split('=', 1);
  if (words.includes(name) || looks?.test(word)) return true;
  if (word.startsWith('--')) return name.length > 2 && long.some((option) => option.startsWith(name));
  return word.startsWith('-') && [...word.slice(1)].some((letter) => short.includes(letter));
}

function riskyInGit(words: readonly ShellWord[]): number[] {
  const found: number[] = [];
  let at = 1;
  let isCertain = true;
  for (; at < words.length && words[at]?.text.startsWith('-'); at += 1) {
    const { text = '' } = words[at] ?? {};
    if (GIT_PLAIN.has(text)) continue;
    found.push(at);
    if (text === '-c' || text === '-C') found.push(++at);
    else isCertain = false;
  }
  const command = words[at];
  if (!command) return found;
  // The word after an unknown option may be its value, and the subcommand may follow: nothing is certain from here on.
  if (!isCertain) for (let rest = at; rest < words.length; rest += 1) found.push(rest);
  if (command.kind !== 'literal' || GIT_RUNS.has(command.text) || !/^[a-z][a-z0-9-]*$/.test(command.text))
    found.push(at);
  const risks: Risks = { long: GIT_LONG, short: GIT_SHORT[command.text] ?? '', pattern: /^ext::|::/ };
  for (let index = at + 1; index < words.length; index += 1)
    if (isRisky(words[index]?.text ?? '', risks)) found.push(index);
  return found;
}

/** Matches a script that only prints or replaces. `e`, `w`, `r` and their flags run programs and touch files. */
const SED_PLAIN =
  /^(?:(?:\d+|\$|\/[^/]*\/)(?:,(?:\+?\d+|\$|\/[^/]*\/))?)?(?:[pdq=]|s([/|#,:])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI0-9]*)$/;

function riskyInSed(words: readonly ShellWord[]): number[] {
  const found: number[] = [];
  let hasScript = false;
  for (const [index, { text, kind }] of words.entries()) {
    if (index === 0) continue;
    if (text === '-e' || text === '--expression') hasScript = false;
    else if (/^-[nErsuz]+$/.test(text) || /^--(?:quiet|silent|regexp-extended|separate|null-data|posix)$/.test(text))
      continue;
    else if (text.startsWith('-')) found.push(index);
    else if (!hasScript) {
      hasScript = true;
      if (kind !== 'literal' || !text.split(';').every((part) => SED_PLAIN.test(part.trim()))) found.push(index);
    }
  }
  return found;
}

/** Programs without an option that runs a program or writes a file: their arguments need not be known in advance. */
export const PLAIN_PROGRAMS: ReadonlySet<string> = new Set(
  'echo true false : pwd cat head tail wc ls test [ basename dirname seq cut tr nl stat file du df cmp md5sum sha1sum sha256sum expr realpath readlink sleep whoami id uname hostname'.split(
    ' ',
  ),
);

/** Programs that write, move or remove the files in their arguments. */
export const WRITERS: ReadonlySet<string> = new Set(
  'cp mv rm rmdir mkdir touch ln tee dd install chmod chown chgrp truncate shred unlink rsync scp tar unzip zip gzip gunzip patch mktemp mkfifo uniq sponge split csplit'.split(
    ' ',
  ),
);

/** Builtins that change what later commands of the line mean: no star in a rule covers them. */
export const CHANGES_SHELL: ReadonlySet<string> = new Set(
  'alias unalias eval . source exec trap set shopt hash enable export readonly declare typeset local unset read getopts mapfile readarray builtin bind complete function let pushd popd fc history'.split(
    ' ',
  ),
);
