/** Configuration, customizations, history. */
import { CHOICE_MAX_CHARACTERS } from '../../limits.js';
import { badValue } from '../config-values.js';
import type { Rules } from '../rules.js';

export const configRules: Rules = {
  'session/configChanged': ({ config, replace }, { state }) => {
    if (!state.config) return 'this session has no configuration';
    const { schema, values } = state.config;
    for (const [key, value] of Object.entries(config)) {
      const property = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
      if (!property) return `there is no property ${key}`;
      if (!property.sessionMutable && value !== values[key]) return `${key} cannot be changed any more`;
      const bad = badValue(property, value);
      if (bad) return `${key} must be ${bad}`;
    }
    const dropped =
      replace && Object.keys(values).find((key) => !(key in config) && !schema.properties[key]?.sessionMutable);
    return dropped ? `${dropped} cannot be removed` : undefined;
  },

  'session/modelChanged': ({ model }) => tooLong('model', model),

  'session/agentChanged': ({ agent }, { state }) => {
    const problem = tooLong('agent', agent);
    if (problem) return problem;
    const holders = (state.customizations ?? []).filter(({ children }) =>
      children?.some((child) => child.type === 'agent' && child.uri === agent?.uri),
    );
    const isOff = holders.length > 0 && holders.every(({ enabled }) => !enabled);
    return isOff ? `this agent belongs to ${holders[0]?.name}, which is switched off` : undefined;
  },

  'session/customizationToggled': ({ id }, { state }) => {
    const known = state.customizations?.some(
      (entry) => entry.id === id || entry.children?.some((child) => child.id === id && child.type === 'mcpServer'),
    );
    return known ? undefined : `there is no customization ${id}`;
  },
};

/** What is chosen for a session stands in the list of all. */
export function tooLong(name: 'model' | 'agent', chosen: object | undefined): string | undefined {
  const isTooLong = chosen !== undefined && JSON.stringify(chosen).length > CHOICE_MAX_CHARACTERS;
  return isTooLong ? `${name} may have ${CHOICE_MAX_CHARACTERS} characters as JSON` : undefined;
}
