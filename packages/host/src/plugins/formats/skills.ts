/** Skills: Agent Skills in their own folders, commands, and a plugin that is itself a skill. */

import {
  booleanField,
  descriptionField,
  type MarkdownFile,
  nameField,
  nameWithout,
  readMarkdown,
  textField,
} from './frontmatter.js';
import { DESCRIPTION_MAX_CHARACTERS, NAME_MAX_CHARACTERS } from './limits.js';
import {
  componentFiles,
  filePart,
  firstByName,
  type LoadContext,
  type PartBase,
  present,
  warnIfNamed,
} from './load-context.js';
import type { ComponentLocation } from './manifest.js';
import { baseName, joined, parentOf } from './plugin-files.js';

export interface SkillPart extends PartBase {
  readonly kind: 'skill' | 'command';
  readonly description?: string;
  readonly disableModelInvocation: boolean;
  readonly userInvocable: boolean;
  /** Whether `$ARGUMENTS` in the body is replaced by the text that the person typed after the name. */
  readonly takesArguments: boolean;
  readonly body: string;
}

interface SkillLocations {
  readonly skills: readonly ComponentLocation[];
  readonly commands: readonly ComponentLocation[];
  /** Whether the container itself may be one skill, if there is no other. */
  readonly allowsOwn: boolean;
}

/** Skills and commands are called by name in the same way, so they share one set of names. */
export async function loadSkills(context: LoadContext, locations: SkillLocations): Promise<readonly SkillPart[]> {
  const skills = await agentSkills(context, locations.skills);
  const own = locations.allowsOwn && skills.length === 0 ? await ownSkill(context) : [];
  return firstByName(context, 'skill', [...skills, ...own, ...(await commands(context, locations.commands))]);
}

async function agentSkills(
  context: LoadContext,
  locations: readonly ComponentLocation[],
): Promise<readonly SkillPart[]> {
  const skills: SkillPart[] = [];
  for (const path of await skillFiles(context, locations)) {
    const file = await readMarkdown(context, path);
    const isOwnFolder = !locations.some((location) => location.path === parentOf(path));
    if (!file || (context.isStrict && !conforms(file))) continue;
    skills.push(agentSkill(context, file, isOwnFolder));
  }
  return skills;
}

/** `isOwnFolder`: the skill has its own folder, which should then have the skill's name. */
function agentSkill(context: LoadContext, file: MarkdownFile, isOwnFolder: boolean): SkillPart {
  const folder = baseName(parentOf(file.path)) || context.folderName;
  const name = nameField(file);
  if (name !== undefined && !isSkillName(name)) {
    file.warn('name-invalid', 'has a name that is not made of small letters, digits and single hyphens');
  } else if (name !== undefined && isOwnFolder && name !== folder) {
    file.warn('skill-name-mismatch', `is in the folder "${folder}" but has another name, "${name}"`);
  }
  return skillOf(context, file, name ?? folder, 'skill');
}

function isSkillName(name: string): boolean {
  return name.length <= NAME_MAX_CHARACTERS && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}

/** The strict rules; a skill that breaks one is left out. */
function conforms(file: MarkdownFile): boolean {
  const name = textField(file, 'name');
  const description = textField(file, 'description');
  const skip = (...[kind, message]: Parameters<MarkdownFile['warn']>) => {
    file.warn(kind, `${message}, so it is left out`);
    return false;
  };
  if (name === undefined) return skip('required-field-missing', 'has no name');
  if (description === undefined) return skip('required-field-missing', 'has no description');
  if (!isSkillName(name)) return skip('name-invalid', 'has a name that is not valid');
  if (name !== baseName(parentOf(file.path))) return skip('skill-name-mismatch', 'has another name than its folder');
  if (description.length <= DESCRIPTION_MAX_CHARACTERS) return true;
  return skip('frontmatter-invalid', 'has a description that is too long');
}

async function ownSkill(context: LoadContext): Promise<readonly SkillPart[]> {
  const file = (await hasSkillFile(context, '')) ? await readMarkdown(context, SKILL_FILE) : undefined;
  return file ? [skillOf(context, file, context.folderName, 'skill')] : [];
}

async function commands(context: LoadContext, locations: readonly ComponentLocation[]): Promise<readonly SkillPart[]> {
  const found: SkillPart[] = [];
  for (const path of await componentFiles(context, locations, (name) => name.endsWith('.md'))) {
    const file = await readMarkdown(context, path);
    if (file) found.push(skillOf(context, file, nameWithout(path, ['.md']), 'command'));
  }
  return found;
}

function skillOf(context: LoadContext, file: MarkdownFile, name: string, kind: SkillPart['kind']): SkillPart {
  const description = descriptionField(file);
  if (kind === 'skill' && description === undefined) file.warn('required-field-missing', 'has no description');
  return {
    ...filePart(context, file, name),
    ...present({ description }),
    kind,
    disableModelInvocation: booleanField(file, 'disable-model-invocation') ?? false,
    userInvocable: booleanField(file, 'user-invocable') ?? true,
    takesArguments: kind === 'command',
    body: file.body,
  };
}

const SKILL_FILE = 'SKILL.md';

/** The skill files of all places, in order of precedence. */
async function skillFiles(context: LoadContext, locations: readonly ComponentLocation[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const location of locations) {
    const entries = await context.reader.list(location.path);
    if (!entries) {
      if (await isNamedSkillFile(context, location)) found.add(location.path);
      continue;
    }
    const isSkillItself = entries.some(({ name, kind }) => kind === 'file' && name === SKILL_FILE);
    if (isSkillItself && !context.isStrict) found.add(joined(location.path, SKILL_FILE));
    for (const { name, kind } of entries) {
      if (kind === 'folder' && (await hasSkillFile(context, joined(location.path, name)))) {
        found.add(joined(location.path, `${name}/${SKILL_FILE}`));
      }
    }
  }
  return [...found];
}

/** Reads the list, because some file systems also find `skill.md` under this name. */
async function hasSkillFile({ reader }: LoadContext, folder: string): Promise<boolean> {
  return Boolean((await reader.list(folder))?.some(({ name, kind }) => kind === 'file' && name === SKILL_FILE));
}

async function isNamedSkillFile(context: LoadContext, location: ComponentLocation): Promise<boolean> {
  const kind = location.isNamed ? await context.reader.kindOf(location.path) : 'refused';
  if (kind === 'missing') warnIfNamed(context, location);
  return kind === 'file' && baseName(location.path) === SKILL_FILE;
}
