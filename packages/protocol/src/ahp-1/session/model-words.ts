/** The words after `/model`: the id of a model and its options, such as `gpt-5 effort=high`. */
import type { ModelSelection } from '../common/types.js';
import type { AgentInfo } from '../root/state.js';
import type { ArgumentFacts } from './builtin-commands.js';

type Model = AgentInfo['models'][number];
type Options = Readonly<Record<string, unknown>>;

export const MODELS_SHOWN_MAX = 30;

export type ModelWords =
  /** Messages are sent with this model from now on. */
  | { readonly kind: 'chosen'; readonly model: ModelSelection; readonly text: string }
  /** Nothing changes: the text says what can be chosen, or why not. */
  | { readonly kind: 'told'; readonly text: string };

/**
 * `current`: the model that messages are now sent with. Words with `=` are options; an option without a value is reset.
 */
export function readModelWords(
  words: string,
  models: readonly Model[],
  current: ModelSelection | undefined,
): ModelWords {
  const all = words.split(/\s+/).filter(Boolean);
  const [id, ...more] = all.filter((word) => !word.includes('='));
  const settings = all.filter((word) => word.includes('='));
  if (all.length === 0) return { kind: 'told', text: modelsText(current, models) };
  if (more.length > 0) return { kind: 'told', text: `Write one model, then its options: /model ${id} name=value` };
  if (id !== undefined && models.length > 0 && !models.some((model) => model.id === id))
    return { kind: 'told', text: `The agent has no model ${id}.\n${modelsText(current, models)}` };
  const chosen = id ?? current?.id ?? models[0]?.id;
  if (chosen === undefined) return { kind: 'told', text: 'Write the model in front of its options.' };
  const before = id === undefined || id === current?.id ? current?.config : undefined;
  return withOptions(models, chosen, { before, settings });
}

interface OptionRequest {
  readonly before: ModelSelection['config'];
  readonly settings: readonly string[];
}

function withOptions(models: readonly Model[], id: string, { before = {}, settings }: OptionRequest): ModelWords {
  const offered = optionsOf(models.find((model) => model.id === id));
  const config: Record<string, string | number | boolean | null> = { ...before };
  for (const setting of settings) {
    const at = setting.indexOf('=');
    const [typed, text] = [setting.slice(0, at), setting.slice(at + 1)];
    const name = optionNamed(offered, typed);
    if (name === undefined) return { kind: 'told', text: `${id} has no option ${typed}. ${optionsText(offered)}` };
    delete config[name];
    if (text === '') continue;
    const value = readValue(offered[name] ?? {}, text);
    if (value === undefined) return { kind: 'told', text: `${name} cannot be ${text}. ${optionsText(offered)}` };
    config[name] = value;
  }
  const model = { id, ...(Object.keys(config).length > 0 && { config }) };
  const doubt = models.length === 0 ? ' The agent does not say which models it has, so the next turn may fail.' : '';
  return { kind: 'chosen', model, text: `From the next message on: ${modelText(model)}.${doubt}` };
}

/** What can be chosen after `/model`: first a model, then its options. */
export function modelChoices(
  before: readonly string[],
  { models, model }: ArgumentFacts,
): { label: string; about: string }[] {
  const id = before.find((word) => !word.includes('='));
  const ids =
    id === undefined ? models.map(({ id: label, name }) => ({ label, about: name === label ? '' : name })) : [];
  const offered = optionsOf(
    models.find((one) => one.id === (id ?? model)) ?? (id === undefined ? models[0] : undefined),
  );
  const options = Object.entries(offered).flatMap(([name, option]) => {
    const about = typeof option.title === 'string' ? option.title : '';
    const values = valuesOf(option);
    if (before.some((word) => word.startsWith(`${name}=`))) return [];
    return values.length === 0
      ? [{ label: `${name}=`, about }]
      : values.map((value) => ({ label: `${name}=${value}`, about }));
  });
  return [...ids, ...options];
}

/** A model with its options, as it is typed. */
export function modelText({ id, config = {} }: ModelSelection): string {
  return [id, ...Object.entries(config).map(([name, value]) => `${name}=${String(value)}`)].join(' ');
}

function modelsText(current: ModelSelection | undefined, models: readonly Model[]): string {
  const now = `The model is ${current ? modelText(current) : 'the default of the agent'}. To change it: /model <id> [option=value]`;
  const rest = models.length - MODELS_SHOWN_MAX;
  const shown = models.slice(0, MODELS_SHOWN_MAX).map((model) => {
    const options = Object.entries(optionsOf(model)).map(([name, option]) => optionText(name, option));
    return `  ${[model.id, ...options].join('  ')}`;
  });
  return [now, ...shown, ...(rest > 0 ? [`  and ${rest} more`] : [])].join('\n');
}

function optionsText(offered: Readonly<Record<string, Options>>): string {
  const texts = Object.entries(offered).map(([name, option]) => optionText(name, option));
  return texts.length === 0 ? 'It has no options.' : `Its options: ${texts.join('  ')}`;
}

function optionText(name: string, option: Options): string {
  const values = valuesOf(option);
  return `${name}=${values.length === 0 ? `<${String(option.type)}>` : values.join('|')}`;
}

function optionsOf(model: Model | undefined): Readonly<Record<string, Options>> {
  return { ...model?.configSchema?.properties };
}

function valuesOf(option: Options): string[] {
  return Array.isArray(option.enum) ? option.enum.map(String) : [];
}

/**
 * Finds an option by its name, or by part of the name if only one option contains it: `effort` is `reasoningEffort`.
 */
function optionNamed(offered: Readonly<Record<string, Options>>, typed: string): string | undefined {
  const names = Object.keys(offered);
  const isNear = (name: string) => typed !== '' && name.toLowerCase().includes(typed.toLowerCase());
  const near = names.filter(isNear);
  return names.find((name) => name.toLowerCase() === typed.toLowerCase()) ?? (near.length === 1 ? near[0] : undefined);
}

function readValue(option: Options, text: string): string | number | boolean | null | undefined {
  if (Array.isArray(option.enum)) return option.enum.find((one) => String(one) === text);
  if (option.type === 'number' || option.type === 'integer')
    return Number.isFinite(Number(text)) ? Number(text) : undefined;
  if (option.type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : undefined;
  return option.type === 'string' ? text : undefined;
}
