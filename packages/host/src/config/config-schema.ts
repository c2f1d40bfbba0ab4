/**
 * What `atrium.json` and the user's configuration may contain. One description yields the published JSON Schema, the
 * check at the start and the TypeScript type.
 */
import { MODEL_OUTPUT_MAX_CHARACTERS, MODEL_OUTPUT_MIN_CHARACTERS } from '@atrium/core/tool-calls/limits.js';

const text = (description: string) => ({ type: 'string', description }) as const;
const flag = (description: string) => ({ type: 'boolean', description }) as const;
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const;

const NAME = { type: 'string', pattern: '\\S', title: 'a name' } as const;
/** The sessions-v1 wire puts the id of an agent into URIs. */
const AGENT_ID = {
  type: 'string',
  pattern: '^[A-Za-z][A-Za-z0-9_.+-]{0,63}$',
  title: 'a letter, then at most 63 letters, digits and any of _ . + -',
} as const;
const VARIABLE = {
  type: 'string',
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  title: 'the name of an environment variable, never a key itself',
} as const;
const ADDRESS = {
  type: 'string',
  // No "@" between the slashes and the next one, because it would follow a name and a password.
  pattern: '^https?://[^\\s/?#@]+([/?#]|$)',
  title: 'an address that begins with http:// or https://, without a name and a password',
} as const;
const COMMAND = { type: 'string', pattern: '\\S', title: 'a command' } as const;

const NO_KEY = {
  not: {},
  description: 'keys must not be in this file. Put the key into an environment variable and name that in "apiKeyEnv"',
} as const;

const enabled = flag('false switches the agent off.');
const displayName = text('The name that people see.');
const env = mapOf('Additional environment variables of the process.', VARIABLE, { type: 'string' });
const headers = mapOf('Additional HTTP headers. Not for keys, which "apiKeyEnv" is for.', NAME, { type: 'string' });
const model = record(
  'One model.',
  {
    id: text('The id that its server uses.'),
    name: text('The name that people see.'),
    contextWindow: { type: 'integer', minimum: 1, description: 'The size of the context window, in tokens.' },
    vision: flag('Whether the model accepts images. By default its name decides.'),
    reasoningEfforts: texts('The reasoning efforts that people can choose from, such as "low" and "high".'),
    temperature: flag('Whether people can choose a temperature.'),
  },
  ['id'],
);
const models = {
  type: 'array',
  description: 'The models to offer; the first is the default.',
  items: { anyOf: [text('The id of a model.'), model] },
} as const;
const process = {
  command: {
    ...COMMAND,
    description: 'A name on PATH, or a path. A relative path starts from the folder of this file.',
  },
  args: texts('Arguments of the command.'),
  env,
  cwd: text('The working folder. A relative path starts from the folder of this file.'),
} as const;
const guards = texts(
  'Tools that do not run while the provider is not connected; "*" means all. Default: the tools that its rules covered when it was last connected, or, before its first connection, every tool that may change something.',
);
const common = { enabled, displayName } as const;

const modelAgent = record(
  'Atrium itself, working with a model.',
  {
    type: { enum: ['model'] },
    ...common,
    api: {
      enum: ['openai-compatible', 'openai', 'anthropic'],
      description: 'The API of the server: chat completions of any server, OpenAI, or Anthropic.',
    },
    baseURL: { ...ADDRESS, description: 'The address of the server, up to and including /v1.' },
    apiKeyEnv: { ...VARIABLE, description: 'The environment variable that holds the key.' },
    apiKey: NO_KEY,
    models,
    judge: text(
      'A model of this server, usually a small one, that assesses each call that waits for a person. It decides nothing. Default: none.',
    ),
    titles: text(
      'A model of this server, usually a small one, that writes the titles of sessions. Default: the model of the session.',
    ),
    headers,
  },
  ['type', 'api'],
);
const acpAgent = record(
  'A program that speaks the Agent Client Protocol.',
  { type: { enum: ['acp'] }, ...common, ...process },
  ['type', 'command'],
);
const copilotAgent = record(
  'GitHub Copilot, through its SDK.',
  { type: { enum: ['copilot'] }, ...common, models, env },
  ['type'],
);
const claudeAgent = record('Claude Code, through its SDK.', { type: { enum: ['claude'] }, ...common, models, env }, [
  'type',
]);
const changedAgent = record('Changes an agent that Atrium finds without this file.', { ...common, models }, []);

const amount = (description: string) => ({ type: 'number', minimum: 0, description }) as const;
const budget = record(
  'A limit in money, in tokens, or both. At 80 % people are told; at 100 % a turn waits until a person lets it continue.',
  {
    money: amount('US dollars; only usage with known prices counts.'),
    tokens: { type: 'integer', minimum: 1, description: 'Input and output tokens together.' },
  },
  [],
);

const data = { type: 'object', additionalProperties: true } as const;

export const CONFIG_SCHEMA = record(
  'The configuration of Atrium, for a project (atrium.json) or for a user.',
  {
    $schema: text('The address of this schema, for editors.'),
    agents: mapOf('Agents by id. An entry without a type changes an agent that Atrium finds by itself.', AGENT_ID, {
      anyOf: [changedAgent, modelAgent, acpAgent, copilotAgent, claudeAgent],
    }),
    defaultAgent: text('The id of the agent for new sessions, if the client does not choose one.'),
    discovery: record(
      'Where the host looks for agents at its start.',
      {
        enabled: flag('false: the host looks nowhere. Default: true.'),
        environment: flag('Keys in environment variables. Default: true.'),
        localServers: flag('Model servers on their usual ports of this machine. Default: true.'),
        commands: flag('Agent commands on PATH, and installed agent packages. Default: true.'),
      },
      [],
    ),
    mcpServers: mapOf('MCP servers by name, written as in .mcp.json.', NAME, data),
    toolOutputMaxCharacters: {
      type: 'integer',
      minimum: MODEL_OUTPUT_MIN_CHARACTERS,
      title: `a whole number of at least ${MODEL_OUTPUT_MIN_CHARACTERS}`,
      description: `How many characters of one tool output a model reads. Default: ${MODEL_OUTPUT_MAX_CHARACTERS}.`,
    },
    automationRunsAtOnce: {
      type: 'integer',
      minimum: 1,
      title: 'a whole number of at least 1',
      description: 'How many runs of automations work at once; further ones wait. Default: 4.',
    },
    prices: mapOf(
      'The prices of models by id, in US dollars per million tokens. They take precedence over the prices that Atrium knows.',
      NAME,
      record(
        'A price.',
        {
          input: amount('Input.'),
          cachedInput: amount('Input that came from a cache. Default: the price of other input.'),
          cacheWrite: amount('Input that was written to a cache. Default: the price of other input.'),
          output: amount('Output, including reasoning.'),
        },
        ['input', 'output'],
      ),
    ),
    flatPlans: texts('Ids of agents that a subscription pays for: their tokens are counted, but cost nothing.'),
    budgets: record(
      'How much may be used before a person is asked.',
      { session: budget, project: budget, day: budget },
      [],
    ),
    permissions: record(
      'Rules about what agents may do: a tool, or a tool with a pattern, such as "shell(git diff *)", "edit(src/**)" or "web_fetch(docs.rs:443)". Deny takes precedence over ask, and ask over allow. What a project allows counts only once a person has trusted it.',
      {
        allow: texts('Calls that need no answer.'),
        ask: texts('Calls that a person is always asked about.'),
        deny: texts('Calls that never run.'),
      },
      [],
    ),
    systemMessageSections: flag('Whether clients may add text to the system prompt of a session. Default: true.'),
    titles: flag(
      'Whether a model writes the title of a session after the first turn, with a small request. Default: true.',
    ),
    joinText: flag(
      'Whether pieces of text in quick succession are joined into fewer actions; the more clients watch, the more are joined. Default: true.',
    ),
    updateNotice: flag(
      'Whether Atrium asks npm once a day for a newer version, which its commands then mention. Counts only in the file of a user. Default: false.',
    ),
    providers: mapOf(
      'Providers that the host starts, by name.',
      NAME,
      record('A provider.', { ...process, guards }, ['command']),
    ),
    plugins: texts('Folders of plugins. A relative path starts from the folder of this file.'),
  },
  [],
);

export type Config = ValueOf<typeof CONFIG_SCHEMA>;
export type AgentEntry = ValueOf<(typeof CONFIG_SCHEMA)['properties']['agents']>[string];
export type ModelEntry = ValueOf<typeof modelAgent>;
export type AcpEntry = ValueOf<typeof acpAgent>;
type CopilotEntry = ValueOf<typeof copilotAgent>;
type ClaudeEntry = ValueOf<typeof claudeAgent>;
/** An entry that defines an agent of its own. */
export type TypedEntry = ModelEntry | AcpEntry | CopilotEntry | ClaudeEntry;
export type ChangeEntry = ValueOf<typeof changedAgent>;
export type ProviderConfig = ValueOf<(typeof CONFIG_SCHEMA)['properties']['providers']>[string];
export type ConfiguredModels = ValueOf<typeof models>;

export function isTyped(entry: AgentEntry): entry is TypedEntry {
  return 'type' in entry;
}

/** The text of the published JSON Schema. */
export function publishedSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:atrium:config',
    $comment: 'Generated from packages/host/src/config/config-schema.ts. Do not edit.',
    title: 'atrium.json',
    ...CONFIG_SCHEMA,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

interface Described {
  /** The expectation, as the end of the sentence "must be …". */
  readonly title?: string;
  readonly description?: string;
}

export interface TextSchema extends Described {
  readonly type: 'string';
  readonly pattern?: string;
}
interface ChoiceSchema extends Described {
  readonly enum: readonly string[];
}
interface FlagSchema extends Described {
  readonly type: 'boolean';
}
interface CountSchema extends Described {
  readonly type: 'integer';
  readonly minimum: number;
}
interface NumberSchema extends Described {
  readonly type: 'number';
  readonly minimum: number;
}
interface ListSchema extends Described {
  readonly type: 'array';
  readonly items: ConfigSchema;
}
/** Any names, with one kind of value. */
export interface MapSchema extends Described {
  readonly type: 'object';
  readonly propertyNames: TextSchema;
  readonly additionalProperties: ConfigSchema;
}
/** Known names, each with its own kind of value. */
export interface RecordSchema extends Described {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ConfigSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}
/** Records with different values of `type` (one of them may have none), or values of different kinds. */
export interface UnionSchema extends Described {
  readonly anyOf: readonly ConfigSchema[];
}
/** A key that people try but that is not allowed; the description says what to do instead. */
interface NeverSchema {
  readonly not: Readonly<Record<string, never>>;
  readonly description: string;
}
/** Passed on unchanged. */
interface DataSchema extends Described {
  readonly type: 'object';
  readonly additionalProperties: true;
}

export type ConfigSchema =
  | TextSchema
  | ChoiceSchema
  | FlagSchema
  | CountSchema
  | NumberSchema
  | ListSchema
  | MapSchema
  | RecordSchema
  | UnionSchema
  | NeverSchema
  | DataSchema;

/** The type of the values that a schema allows. */
export type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Choice)[] }
  ? Choice
  : Schema extends { readonly type: keyof Plain }
    ? Plain[Schema['type']]
    : Schema extends { readonly items: infer Items }
      ? readonly ValueOf<Items>[]
      : Schema extends { readonly anyOf: readonly (infer Member)[] }
        ? ValueOf<Member>
        : ObjectOf<Schema>;

interface Plain {
  readonly string: string;
  readonly boolean: boolean;
  readonly integer: number;
  readonly number: number;
}

type ObjectOf<Schema> = Schema extends {
  readonly properties: infer Known;
  readonly required: readonly (infer Needed)[];
}
  ? { readonly [Key in keyof Known as Key extends Needed ? Key : never]: ValueOf<Known[Key]> } & {
      readonly [Key in keyof Known as Key extends Needed ? never : Key]?: ValueOf<Known[Key]>;
    }
  : Schema extends { readonly additionalProperties: true }
    ? Readonly<Record<string, unknown>>
    : Schema extends { readonly additionalProperties: infer Member }
      ? Readonly<Record<string, ValueOf<Member>>>
      : never;

export function record<
  const Known extends Readonly<Record<string, ConfigSchema>>,
  const Needed extends readonly (string & keyof Known)[],
>(description: string, properties: Known, required: Needed) {
  return { description, type: 'object', properties, required, additionalProperties: false } as const;
}

function mapOf<const Names extends TextSchema, const Member extends ConfigSchema>(
  description: string,
  propertyNames: Names,
  additionalProperties: Member,
) {
  return { description, type: 'object', propertyNames, additionalProperties } as const;
}
