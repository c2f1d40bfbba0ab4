/** How the shell of a terminal is started: which shell, with which environment, and with marks around its commands. */
import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { makeFolder } from '@atrium/core/util/folders.js';
import { childEnvironment, type Environment } from '@atrium/core/util/processes.js';

/** Variables of the terminal in which the host was started. */
const OF_ANOTHER_TERMINAL: ReadonlySet<string> = new Set(
  (
    'TMUX TMUX_PANE STY WINDOW WINDOWID TERMCAP COLUMNS LINES COLORTERM TERM_PROGRAM_VERSION TERM_SESSION_ID ' +
    'VTE_VERSION KITTY_WINDOW_ID WT_SESSION ITERM_SESSION_ID VSCODE_INJECTION VSCODE_SHELL_INTEGRATION'
  ).split(' '),
);
/** Variables that make programs emit colours where none can be shown. */
const FORCES_COLOUR: ReadonlySet<string> = new Set(['FORCE_COLOR', 'CLICOLOR_FORCE']);
/**
 * Bash starts with this file, which first reads the user's own. It only adds to the prompt's hooks: traps, history,
 * prompt and `$?` stay as they are. Bash expands `PS0` before it runs a command.
 */
const BASH_FILE = 'atrium.bash';
const BASH_SCRIPT = String.raw`
__atrium_nonce=$ATRIUM_TERMINAL_NONCE
unset ATRIUM_TERMINAL_NONCE
if [ -n "$ATRIUM_TERMINAL_LOGIN" ]; then
  unset ATRIUM_TERMINAL_LOGIN
  [ -r /etc/profile ] && . /etc/profile
  for __atrium_file in ~/.bash_profile ~/.bash_login ~/.profile; do
    [ -r "$__atrium_file" ] && { . "$__atrium_file"; break; }
  done
  unset __atrium_file
elif [ -r ~/.bashrc ]; then
  . ~/.bashrc
fi

# Older ones have no PS0, and without promptvars it would be shown as it stands.
if [ -n "$__atrium_nonce" ] && shopt -q promptvars && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
  __atrium_before='' __atrium_number='' __atrium_line='' __atrium_escaped=''

  __atrium_say() {
    builtin printf '\e]633;%s;%s\a' "$1" "$__atrium_nonce"
  }

  __atrium_escape() {
    __atrium_escaped=$\{1:0:4096}
    __atrium_escaped=$\{__atrium_escaped//\\/\\\\}
    __atrium_escaped=$\{__atrium_escaped//;/\\x3b}
    __atrium_escaped=$\{__atrium_escaped//$'\n'/\\x0a}
    __atrium_escaped=$\{__atrium_escaped//[[:cntrl:]]/}
  }

  # The last line of the history, and its number.
  __atrium_last() {
    __atrium_line=$(HISTTIMEFORMAT='' builtin history 1 2>/dev/null)
    __atrium_line=$\{__atrium_line#"$\{__atrium_line%%[![:space:]]*}"}
    __atrium_number=$\{__atrium_line%%[!0-9]*}
    __atrium_line=$\{__atrium_line#"$__atrium_number"}
    __atrium_line=$\{__atrium_line:2}
  }

  __atrium_prompt() {
    local code=$?
    __atrium_say "D;$code"
    __atrium_escape "$PWD"
    __atrium_say "P;Cwd=$__atrium_escaped"
    __atrium_last
    __atrium_before=$__atrium_number
    __atrium_say A
    return "$code"
  }

  # Bash keeps no note of some lines: then the last one may be another.
  __atrium_run() {
    local sure=sure
    __atrium_last
    [[ $__atrium_number == "$__atrium_before" ]] && sure=perhaps
    __atrium_escape "$__atrium_line"
    __atrium_say "C;$sure;$__atrium_escaped"
  }

  PROMPT_COMMAND=__atrium_prompt$\{PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}
  PS0=$\{PS0-}'$(__atrium_run)'
fi
`.replaceAll('$\\{', '${');
/** The shells of accounts that must not log in. */
const NO_SHELLS: ReadonlySet<string> = new Set(['nologin', 'false', 'true']);
/**
 * Zsh finds these files instead of the user's own. Each reads the user's file first, and the last one restores
 * everything; then only two hooks remain.
 */
const ZSHENV = String.raw`
__atrium_folder=$ZDOTDIR
if [[ -n $ATRIUM_TERMINAL_ZDOTDIR ]]; then export ZDOTDIR=$ATRIUM_TERMINAL_ZDOTDIR; else unset ZDOTDIR; fi
unset ATRIUM_TERMINAL_ZDOTDIR
[[ -r $\{ZDOTDIR:-$HOME}/.zshenv ]] && . $\{ZDOTDIR:-$HOME}/.zshenv
# The user's own file may have chosen another folder.
__atrium_zdotdir=$\{ZDOTDIR-}
ZDOTDIR=$__atrium_folder
`;
const ZPROFILE = String.raw`
if [[ -n $__atrium_zdotdir ]]; then ZDOTDIR=$__atrium_zdotdir; else unset ZDOTDIR; fi
[[ -r $\{ZDOTDIR:-$HOME}/.zprofile ]] && . $\{ZDOTDIR:-$HOME}/.zprofile
ZDOTDIR=$__atrium_folder
`;
const ZSHRC = String.raw`
if [[ -n $__atrium_zdotdir ]]; then export ZDOTDIR=$__atrium_zdotdir; else unset ZDOTDIR; fi
# Some systems have chosen the place of the history by now.
[[ $\{HISTFILE-} == $__atrium_folder/* ]] && HISTFILE=$\{ZDOTDIR:-$HOME}/$\{HISTFILE:t}
unset __atrium_folder __atrium_zdotdir
__atrium_nonce=$ATRIUM_TERMINAL_NONCE
unset ATRIUM_TERMINAL_NONCE
[[ -r $\{ZDOTDIR:-$HOME}/.zshrc ]] && . $\{ZDOTDIR:-$HOME}/.zshrc

if [[ -n $__atrium_nonce ]]; then
  __atrium_say() {
    builtin printf '\e]633;%s;%s\a' "$1" "$__atrium_nonce"
  }

  __atrium_escape() {
    emulate -L zsh
    local text=$\{1[1,4096]}
    text=$\{text//\\/\\\\}
    text=$\{text//;/\\x3b}
    text=$\{text//$'\n'/\\x0a}
    REPLY=$\{text//[[:cntrl:]]/}
  }

  __atrium_precmd() {
    local code=$? REPLY
    __atrium_say "D;$code"
    __atrium_escape "$PWD"
    __atrium_say "P;Cwd=$REPLY"
    __atrium_say A
    return $code
  }

  __atrium_preexec() {
    local REPLY
    __atrium_escape "$1"
    __atrium_say "C;sure;$REPLY"
  }

  typeset -ag precmd_functions preexec_functions
  precmd_functions=(__atrium_precmd $precmd_functions)
  preexec_functions+=(__atrium_preexec)
fi
`;
const ZSH_FILES: Readonly<Record<string, string>> = {
  '.zshenv': plain(ZSHENV),
  '.zprofile': plain(ZPROFILE),
  '.zshrc': plain(ZSHRC),
};
/** Only this shell can close files of any number. `-p` keeps it from reading files that the environment names. */
const BASH = ['/bin/bash', '/usr/bin/bash'].find((file) => process.platform === 'linux' && existsSync(file));
/**
 * On Linux, a process on a terminal inherits open files of the host, including other terminals. No program may hold
 * another's terminal, so a started process first closes everything that is not its own.
 */
const LET_GO = 'for f in /proc/self/fd/*; do n=$' + '{f##*/}; [[ $n -gt 2 ]] && eval "exec $n>&-"; done; exec "$@"';

/** The shells of people, and the private folder with their start files. */
export interface ShellsOptions {
  /** The shell for people; by default the user's. */
  readonly shell?: string | undefined;
  /** A private folder for the start files of shells; by default a temporary folder. */
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

/** `mkdtemp` makes a folder that only this user can read and write. */
async function writeScripts(wanted: string | undefined): Promise<string> {
  if (wanted !== undefined) await makeFolder(wanted, { mode: 0o700 });
  const folder = wanted ?? (await mkdtemp(path.join(tmpdir(), 'atrium-shell-')));
  const files = Object.entries({ ...ZSH_FILES, [BASH_FILE]: BASH_SCRIPT });
  await Promise.all(files.map(([name, text]) => writeFile(path.join(folder, name), text, { mode: 0o600 })));
  return folder;
}

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Vars;
  /** The secret in the marks of this shell; absent when it makes none. */
  readonly nonce?: string;
}

interface LaunchOptions {
  readonly shell: string;
  readonly env: Vars;
  /** The folder with the scripts. */
  readonly scripts: string;
  readonly platform?: NodeJS.Platform;
}

/** On a Mac every terminal begins with a login shell, and users arrange their settings accordingly. */
export function launchOf({ shell, env, scripts, platform = process.platform }: LaunchOptions): Launch {
  const isLogin = platform === 'darwin';
  const nonce = randomUUID();
  const marked: Vars = { ...env, ATRIUM_TERMINAL_NONCE: nonce };
  switch (path.basename(shell)) {
    case 'bash': {
      const login: Vars = isLogin ? { ATRIUM_TERMINAL_LOGIN: '1' } : {};
      const args = ['--init-file', path.join(scripts, BASH_FILE), '-i'];
      return { file: shell, args, env: { ...marked, ...login }, nonce };
    }
    case 'zsh': {
      const own: Vars = env.ZDOTDIR === undefined ? {} : { ATRIUM_TERMINAL_ZDOTDIR: env.ZDOTDIR };
      const args = isLogin ? ['-l', '-i'] : ['-i'];
      return { file: shell, args, env: { ...marked, ...own, ZDOTDIR: scripts }, nonce };
    }
    default:
      return { file: shell, args: isLogin ? ['-l'] : [], env };
  }
}

export function withOwnFiles<T extends Pick<Launch, 'file' | 'args'>>(launch: T): T {
  if (BASH === undefined) return launch;
  return { ...launch, file: BASH, args: ['-p', '-c', LET_GO, launch.file, launch.file, ...launch.args] };
}

/** The user's shell, or the plainest one that exists. */
export async function userShell(env: Environment = process.env): Promise<string> {
  if (process.platform === 'win32') return env.ComSpec ?? 'cmd.exe';
  for (const shell of [env.SHELL, shellInAccount(), '/bin/bash']) {
    if (shell && path.isAbsolute(shell) && !NO_SHELLS.has(path.basename(shell)) && (await canRun(shell))) return shell;
  }
  return '/bin/sh';
}

function shellInAccount(): string | null {
  try {
    return userInfo().shell;
  } catch {
    return null;
  }
}

async function canRun(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The environment of a shell for a person at a screen: the host's, without variables that are only for the host. */
export function shellEnvironment(host: Environment = process.env): Record<string, string> {
  return {
    ...without(childEnvironment(host), OF_ANOTHER_TERMINAL),
    ...encoding(host),
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    TERM_PROGRAM: 'atrium',
  };
}

/** Whether people are at the command's terminal, and can type. */
interface People {
  readonly arePresent: boolean;
  /** Whether the command reads their input. */
  readonly canType: boolean;
}

/** The environment of a command whose output a model reads: plain, immediate, and nothing that waits for a key. */
export function commandEnvironment(people: People, host: Environment = process.env): Record<string, string> {
  return {
    ...without(without(childEnvironment(host), OF_ANOTHER_TERMINAL), FORCES_COLOUR),
    ...encoding(host),
    // A person who answers questions needs a terminal that can show them.
    TERM: people.canType ? 'xterm-256color' : 'dumb',
    // Such a program queries the terminal and would wait for an answer.
    ...(!people.arePresent && { GIT_TERMINAL_PROMPT: '0' }),
    NO_COLOR: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    PYTHONUNBUFFERED: '1',
  };
}

function without(env: Record<string, string>, names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

/** A host that a service manager started may have no locale; terminals need UTF-8. */
function encoding({ LC_ALL, LC_CTYPE, LANG }: Environment): Record<string, string> {
  if (LC_ALL || LC_CTYPE || LANG) return {};
  return { LANG: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8' };
}

/** An environment: variables by name. */
type Vars = Readonly<Record<string, string>>;

function plain(script: string): string {
  return script.replaceAll('$\\{', '${');
}
