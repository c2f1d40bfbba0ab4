/** The names of one tool at different hosts and agents, because plugins are written for any of them. */

const FAMILIES: readonly (readonly string[])[] = [
  ['ask_user', 'AskUserQuestion'],
  ['task', 'Task'],
  ['edit_file', 'Edit', 'edit', 'MultiEdit', 'str_replace_editor'],
  ['find_files', 'Glob', 'glob'],
  ['list_files', 'LS'],
  ['read_file', 'Read', 'read', 'view'],
  ['search_files', 'Grep', 'grep', 'search'],
  ['shell', 'Bash', 'bash', 'execute'],
  ['todo_list', 'TodoWrite', 'todo'],
  ['write_file', 'Write', 'write', 'create'],
];

const FAMILY_OF: ReadonlyMap<string, readonly string[]> = new Map(
  FAMILIES.flatMap((family) => family.map((name) => [name, family] as const)),
);

export function toolAliases(name: string): readonly string[] {
  return (FAMILY_OF.get(name) ?? []).filter((other) => other !== name);
}
