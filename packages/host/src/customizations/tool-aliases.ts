/** The names by which plugins that were written for other hosts know our tools. */

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  ask_user: ['AskUserQuestion'],
  edit_file: ['Edit', 'edit'],
  find_files: ['Glob', 'glob'],
  list_files: ['LS'],
  read_file: ['Read', 'read', 'view'],
  search_files: ['Grep', 'grep', 'search'],
  shell: ['Bash', 'bash', 'execute'],
  todo_list: ['TodoWrite', 'todo'],
  write_file: ['Write', 'write', 'create'],
};

export function toolAliases(name: string): readonly string[] {
  return Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? []) : [];
}
