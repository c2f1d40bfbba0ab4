/** Completion scripts for shells, generated from the program itself: every command, option and value. */
import type { Argument, Command, Option } from 'commander';

export function completionScript(shell: 'bash' | 'zsh' | 'fish', root: Command): string {
  const entries = entriesOf(root);
  return shell === 'fish' ? fish(entries) : shell === 'zsh' ? zsh(entries) : bash(entries);
}

function paths(entries: readonly Entry[]): string {
  return entries.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`])).join('|');
}

/** `sessions list) found='…'`: the words that may come next. */
function cases(entries: readonly Entry[]): string {
  return entries
    .map(({ path, commands, options, words }) => {
      const names = [...commands, ...options].map(({ name }) => name);
      return `    '${path}') found='${[...words, ...names].join(' ')}' ;;`;
    })
    .join('\n');
}

/** `run --approve) found='…'`: the values of an option. Files have a mark; free values have no entry. */
function valueCases(entries: readonly Entry[]): string {
  return entries
    .flatMap(({ path, options }) =>
      options.flatMap(({ name, value }) => (value === 'none' ? [] : [`    '${path} ${name}') ${valueCode(value)} ;;`])),
    )
    .join('\n');
}

function valueCode(value: Exclude<CompletedOption['value'], 'none'>): string {
  if (typeof value !== 'string') return `found='${value.join(' ')}'`;
  return value === 'file' ? 'files=1' : ':';
}

/** Builds the path from the words before the cursor that are known commands. */
function bash(entries: readonly Entry[]): string {
  const takers = entries.flatMap(({ path, takesFiles }) => (takesFiles ? [`'${path}'`] : [])).join('|');
  return `_atrium() {
  local path='' next word found='' files='' here="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in ${paths(entries)}) path="$next" ;; esac
  done
  case "$path $before" in
${valueCases(entries)}
    *) case "$path" in
${cases(entries)}
    esac
    case "$path" in ${takers}) files=1 ;; esac ;;
  esac
  COMPREPLY=($(compgen -W "$found" -- "$here"))
  if [ -n "$files" ] && [ "\${here#-}" = "$here" ]; then
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$here"))
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _atrium atrium
`;
}

/** For \`source\`, or as a file \`_atrium\` in a folder of \`fpath\`. */
function zsh(entries: readonly Entry[]): string {
  const takers = entries.flatMap(({ path, takesFiles }) => (takesFiles ? [`'${path}'`] : [])).join('|');
  return `#compdef atrium
_atrium() {
  local path_='' next word found='' files=''
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${path_:+$path_ }$word"
    case "$next" in ${paths(entries)}) path_="$next" ;; esac
  done
  case "$path_ \${words[CURRENT-1]}" in
${valueCases(entries)}
    *) case "$path_" in
${cases(entries)}
    esac
    case "$path_" in ${takers}) files=1 ;; esac ;;
  esac
  [ -n "$found" ] && compadd -- \${(z)found}
  [ -n "$files" ] && _files
  return 0
}
if [ "$funcstack[1]" = _atrium ]; then _atrium "$@"; else compdef _atrium atrium; fi
`;
}

function fish(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ path, commands, options, words, takesFiles }) => {
    const line = (rest: string, text = '') =>
      `complete -c atrium -n '__atrium_at "${path}"' ${rest}${text === '' ? '' : ` -d '${text.replaceAll("'", '’')}'`}`;
    return [
      ...commands.map(({ name, text }) => line(`-a ${name}`, text)),
      ...words.map((word) => line(`-a ${word}`)),
      ...(takesFiles ? [line('-F')] : []),
      ...options.map(({ name, text, value }) => line(`-l ${name.slice(2)}${fishValue(value)}`, text)),
    ];
  });
  const known = paths(entries).replaceAll('|', ' ');
  return `function __atrium_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$path $word")
    contains -- $next ${known}; and set path $next
  end
  test "$path" = "$argv[1]"
end
complete -c atrium -f
${lines.join('\n')}
`;
}

function fishValue(value: CompletedOption['value']): string {
  if (value === 'none') return '';
  if (typeof value !== 'string') return ` -x -a '${value.join(' ')}'`;
  return value === 'file' ? ' -r -F' : ' -x';
}

interface CompletedOption {
  readonly name: string;
  readonly text: string;
  /** The value of the option: none, one of these words, a file, or free text. */
  readonly value: 'none' | 'file' | 'free' | readonly string[];
}

interface Entry {
  /** The words that lead to it: `sessions list`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly text: string }[];
  readonly options: readonly CompletedOption[];
  /** Words that the command itself takes. */
  readonly words: readonly string[];
  readonly takesFiles: boolean;
}

const HELP: CompletedOption = { name: '--help', text: 'show help', value: 'none' };

function entriesOf(command: Command, path = ''): Entry[] {
  const commands = command.commands.map((each) => ({ name: each.name(), text: each.description() }));
  const options = command.options.flatMap((option) => (option.long ? [optionOf(option, option.long)] : []));
  const args: readonly Argument[] = command.registeredArguments;
  const words = args.flatMap(({ argChoices }) => argChoices ?? []);
  const takesFiles = args.some((argument) => isFile(argument.name()));
  const below = command.commands.flatMap((each) => entriesOf(each, `${path} ${each.name()}`.trim()));
  return [{ path, commands, options: [...options, HELP], words, takesFiles }, ...below];
}

function optionOf({ argChoices, description, flags, required, optional }: Option, name: string): CompletedOption {
  const free = isFile(flags) ? 'file' : 'free';
  return { name, text: description, value: argChoices ?? (required || optional ? free : 'none') };
}

function isFile(text: string): boolean {
  return /\b(file|folder)\b/.test(text);
}
