/**
 * Names under which agents know the same tool, so that a rule about `shell` also holds where an agent runs its commands
 * as `Bash`. Each row is one tool: the host's name for it first, then the names that agents have for theirs.
 */
const ROWS: readonly (readonly string[])[] = [
  ['shell', 'bash', 'Bash', 'powershell', 'execute', 'run_command', 'run_in_terminal'],
  ['read_file', 'Read', 'read', 'view'],
  ['write_file', 'Write', 'write', 'create'],
  ['edit_file', 'Edit', 'MultiEdit', 'NotebookEdit', 'edit', 'str_replace', 'str_replace_editor', 'apply_patch'],
  ['find_files', 'Glob', 'glob'],
  ['search_files', 'Grep', 'grep', 'search'],
  ['list_files', 'LS', 'ls'],
  ['todo_list', 'TodoWrite', 'update_todo'],
];

const HOST_NAMES: ReadonlyMap<string, string> = new Map(
  ROWS.flatMap(([hostName = '', ...others]) => others.map((name) => [name, hostName] as const)),
);

/** The host's name for a tool. Names are compared as they are written: `Shell` is none of them. */
export function hostNameOf(tool: string): string {
  return HOST_NAMES.get(tool) ?? tool;
}
