/** The model as a setting of the agent's own session: which there are, which one is on, and how another is chosen. */
import type { SetSessionConfigOptionResponse } from '@agentclientprotocol/sdk';
import { isRecord } from '../../core/util/shape.js';
import { MODEL_TEXT_MAX_CHARACTERS, MODELS_MAX, SESSION_MAX_MS } from './limits.js';
import type { AcpLink } from './link.js';

export interface OfferedModel {
  readonly id: string;
  readonly name: string;
}

export interface ModelSetting {
  /** The agent's own id of the setting. */
  readonly configId: string;
  readonly current: string;
  readonly models: readonly OfferedModel[];
}

/** Among the settings of a session, as the agent tells them. Undefined where it lets nobody choose. */
export function modelSettingIn(configOptions: unknown): ModelSetting | undefined {
  for (const option of listOf(configOptions)) {
    const { id, category, type, currentValue, options } = option;
    if (category !== 'model' || type !== 'select' || typeof id !== 'string') continue;
    // Some agents group them, by who made them say.
    const models = listOf(options).flatMap((one) => ('options' in one ? listOf(one.options) : [one]));
    const current = typeof currentValue === 'string' ? currentValue : '';
    return { configId: id, current, models: models.flatMap(modelOf).slice(0, MODELS_MAX) };
  }
  return undefined;
}

export interface ChangeableThread {
  readonly id: string;
  readonly model?: ModelSetting | undefined;
}

/** Throws an error that says why not, in words for people. */
export async function chooseModel(link: AcpLink, { id: sessionId, model }: ChangeableThread, value: string) {
  if (!model) throw new Error('it chooses its model itself. Choose it in the settings of the agent.');
  if (!model.models.some(({ id }) => id === value)) {
    const names = model.models.map(({ id }) => id).join(', ');
    throw new Error(`it offers ${names || 'none'}, and goes on with ${model.current || 'its own'}.`);
  }
  const params = { sessionId, configId: model.configId, value };
  const answer = await link.request<SetSessionConfigOptionResponse>(
    (agent) => agent.request('session/set_config_option', params),
    SESSION_MAX_MS,
  );
  return modelSettingIn(answer.configOptions) ?? { ...model, current: value };
}

function modelOf({ value, name }: Record<string, unknown>): OfferedModel[] {
  if (typeof value !== 'string' || value === '' || value.length > MODEL_TEXT_MAX_CHARACTERS) return [];
  const shown = typeof name === 'string' && name !== '' ? name.slice(0, MODEL_TEXT_MAX_CHARACTERS) : value;
  return [{ id: value, name: shown }];
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
