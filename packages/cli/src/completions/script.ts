/** Completion scripts, made from the program itself, so that they know every command and option. */
import type { Command } from 'commander';

interface Entry {
  /** The words that lead to it: `sessions list`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly text: string }[];
  readonly options: readonly { readonly name: string; readonly text: string }[];
}

export function completionScript(shell: 'bash' | 'zsh' | 'fish', root: Command): string {
  const entries = entriesOf(root, '');
  return shell === 'fish' ? fish(entries) : shell === 'zsh' ? zsh(entries) : bash(entries);
}

function entriesOf(command: Command, path: string): Entry[] {
  const commands = command.commands.map((each) => ({ name: each.name(), text: each.description() }));
  const options = command.options.flatMap(({ long, description }) => (long ? [{ name: long, text: description }] : []));
  const below = command.commands.flatMap((each) => entriesOf(each, `${path} ${each.name()}`.trim()));
  return [{ path, commands, options: [...options, { name: '--help', text: 'show help' }] }, ...below];
}

function words({ commands, options }: Entry): string {
  return [...commands, ...options].map(({ name }) => name).join(' ');
}

function cases(entries: readonly Entry[]): string {
  return entries.map((entry) => `    '${entry.path}') words='${words(entry)}' ;;`).join('\n');
}

/** The path is made of the words before the cursor that are known commands. */
function bash(entries: readonly Entry[]): string {
  const paths = entries.map(({ path }) => `'${path}'`).join('|');
  return `_atrium() {
  local path='' next word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in ${paths}) path="$next" ;; esac
  done
  case "$path" in
${cases(entries)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _atrium atrium
`;
}

function zsh(entries: readonly Entry[]): string {
  const paths = entries.map(({ path }) => `'${path}'`).join('|');
  return `#compdef atrium
_atrium() {
  local path_='' next word words_
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${path_:+$path_ }$word"
    case "$next" in ${paths}) path_="$next" ;; esac
  done
  case "$path_" in
${cases(entries).replaceAll("words='", "words_='")}
  esac
  compadd -- \${(z)words_} || _files
}
compdef _atrium atrium
`;
}

function fish(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ path, commands, options }) => {
    const condition = path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`;
    const line = (rest: string, text: string) =>
      `complete -c atrium -n '${condition}' ${rest} -d '${text.replaceAll("'", '’')}'`;
    return [
      ...commands.map(({ name, text }) => line(`-a ${name}`, text)),
      ...options.map(({ name, text }) => line(`-l ${name.slice(2)}`, text)),
    ];
  });
  return `${lines.join('\n')}\n`;
}
