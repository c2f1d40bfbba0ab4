/**
 * Turns a server's question to the person (`elicitation/create`) into an input request of the session. The server is a
 * stranger and writes the text, so every text names the server, is cut at a limit, and hides nothing.
 */

import type { InputOutcome } from '@atrium/core/contracts/agent.js';
import { shorten } from '@atrium/core/util/text.js';
import {
  type ChatInputAnswer,
  type ChatInputQuestion,
  type ChatInputRequest,
  visibleText,
} from '@atrium/protocol/ahp-1';
import type {
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  PrimitiveSchemaDefinition,
} from '@modelcontextprotocol/sdk/types.js';
import {
  MCP_ELICIT_FIELDS_MAX,
  MCP_ELICIT_OPTIONS_MAX,
  MCP_ELICIT_ROUNDS_MAX,
  MCP_ELICIT_URL_MAX_CHARACTERS,
  MCP_TEXT_MAX_CHARACTERS,
  MCP_TITLE_MAX_CHARACTERS,
} from './limits.js';

/** The people of a session. */
export interface People {
  /** Asks them and waits; rejects when no answer can come any more. */
  ask(request: ChatInputRequest): Promise<InputOutcome>;
  /** Withdraws a question; does nothing if it was answered. */
  withdraw(requestId: string): void;
}

export type Elicitation = ElicitRequestFormParams | ElicitRequestURLParams;
type Content = NonNullable<ElicitResult['content']>;
type Answers = InputOutcome['answers'];

/** The server asked something that cannot be shown to a person. */
export class ElicitationError extends Error {
  override readonly name = 'ElicitationError';
}

export async function elicit(
  server: string,
  params: Elicitation,
  people: People,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const form = params.mode === 'url' ? undefined : new Form(params.requestedSchema);
  const lead = `The MCP server ${boundedText(server, MCP_TITLE_MAX_CHARACTERS)} asks: ${boundedText(params.message)}`;
  const place = params.mode === 'url' ? placeToVisit(params.url) : undefined;
  let fault: string | undefined;
  for (let round = 0; round < MCP_ELICIT_ROUNDS_MAX; round += 1) {
    const request: ChatInputRequest = {
      id: `elicitation-${crypto.randomUUID()}`,
      message: [lead, place?.advice, fault].filter((line) => line !== undefined).join('\n'),
      ...(place && { url: place.url }),
      questions: form?.questions ?? [],
    };
    const { response, answers } = await asked(people, request, signal);
    if (response !== 'accept') return { action: response };
    if (!form) return { action: 'accept' };
    const { content, missing } = form.contentOf(answers);
    if (missing.length === 0) return { action: 'accept', content };
    fault = `Please answer this as well: ${missing.join(', ')}.`;
  }
  return { action: 'cancel' };
}

/** Withdraws the question once the server no longer waits for the answer. */
async function asked(people: People, request: ChatInputRequest, signal: AbortSignal): Promise<InputOutcome> {
  const cancelled: InputOutcome = { response: 'cancel', answers: {} };
  if (signal.aborted) return cancelled;
  const withdraw = (): void => people.withdraw(request.id);
  signal.addEventListener('abort', withdraw, { once: true });
  try {
    return await people.ask(request).catch(() => cancelled);
  } finally {
    signal.removeEventListener('abort', withdraw);
  }
}

/** The host opens no address: the person sees all of it, spelled out, and decides. */
function placeToVisit(text: string): { readonly url: string; readonly advice: string } {
  if (text.length > MCP_ELICIT_URL_MAX_CHARACTERS) throw new ElicitationError('The URL is too long.');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new ElicitationError('The URL must be an absolute http or https URL.');
  // This form has no invisible characters, and shows names in other scripts in the form that is looked up.
  const shown = visibleText(url.href, 'line');
  const advice = `It wants you to open this address (on ${visibleText(url.host, 'line')}) yourself: ${shown}\nAccept when you have done so.`;
  return { url: url.href, advice };
}

/** Turns the fields of a form into questions, and the answers into the values that the server expects. */
class Form {
  readonly questions: ChatInputQuestion[];
  readonly #required: ReadonlySet<string>;

  constructor({ properties, required = [] }: ElicitRequestFormParams['requestedSchema']) {
    const fields = Object.entries(properties);
    if (fields.length > MCP_ELICIT_FIELDS_MAX)
      throw new ElicitationError(`A form may have at most ${MCP_ELICIT_FIELDS_MAX} fields.`);
    this.#required = new Set(required);
    this.questions = fields.map(([id, field]) => questionOf(id, field, this.#required.has(id)));
  }

  contentOf(answers: Answers): { readonly content: Content; readonly missing: readonly string[] } {
    const content: Content = {};
    const missing: string[] = [];
    for (const question of this.questions) {
      const value = answerValue(question, answers[question.id]);
      if (value !== undefined) Object.defineProperty(content, question.id, { value, enumerable: true });
      else if (this.#required.has(question.id)) missing.push(question.title ?? question.message);
    }
    return { content, missing };
  }
}

function questionOf(id: string, field: PrimitiveSchemaDefinition, required: boolean): ChatInputQuestion {
  const title = boundedText(field.title ?? id, MCP_TITLE_MAX_CHARACTERS);
  const base = {
    id,
    title,
    message: field.description === undefined ? title : boundedText(field.description),
    required,
  };
  if (field.type === 'boolean') return { ...base, kind: 'boolean', ...optional('defaultValue', field.default) };
  if (isNumeric(field)) {
    const limits = { ...optional('min', field.minimum), ...optional('max', field.maximum) };
    return { ...base, kind: field.type, ...limits, ...optional('defaultValue', field.default) };
  }
  if (field.type === 'array') {
    const options = 'enum' in field.items ? plainOptions(field.items.enum) : titledOptions(field.items.anyOf);
    return {
      ...base,
      kind: 'multi-select',
      options,
      ...optional('min', field.minItems),
      ...optional('max', field.maxItems),
    };
  }
  if ('oneOf' in field) return { ...base, kind: 'single-select', options: titledOptions(field.oneOf) };
  if ('enum' in field) {
    const names = 'enumNames' in field ? field.enumNames : undefined;
    return { ...base, kind: 'single-select', options: plainOptions(field.enum, names) };
  }
  const limits = {
    ...optional('min', field.minLength),
    ...optional('max', field.maxLength),
    ...optional('format', field.format),
  };
  return { ...base, kind: 'text', ...limits, ...optional('defaultValue', field.default) };
}

type Numeric = Extract<PrimitiveSchemaDefinition, { type: 'number' | 'integer' }>;

function isNumeric(field: PrimitiveSchemaDefinition): field is Numeric {
  return field.type === 'number' || field.type === 'integer';
}

function plainOptions(values: readonly string[], names: readonly string[] = []) {
  return titledOptions(values.map((value, index) => ({ const: value, title: names[index] ?? value })));
}

function titledOptions(options: readonly { readonly const: string; readonly title: string }[]) {
  if (options.length > MCP_ELICIT_OPTIONS_MAX)
    throw new ElicitationError(`A field may offer ${MCP_ELICIT_OPTIONS_MAX} choices at most.`);
  return options.map(({ const: id, title }) => ({ id, label: boundedText(title, MCP_TITLE_MAX_CHARACTERS) }));
}

/** Accepts only values of the requested type, because a client may send anything. */
function answerValue(question: ChatInputQuestion, answer: ChatInputAnswer | undefined): Content[string] | undefined {
  if (!answer || answer.state === 'skipped') return undefined;
  const { value } = answer;
  switch (question.kind) {
    case 'boolean':
      return value.kind === 'boolean' ? value.value : undefined;
    case 'number':
    case 'integer':
      if (value.kind !== 'number' || !Number.isFinite(value.value)) return undefined;
      return question.kind === 'number' || Number.isInteger(value.value) ? value.value : undefined;
    case 'text':
      return value.kind === 'text' && (value.value !== '' || !question.required) ? value.value : undefined;
    case 'single-select':
      return value.kind === 'selected' && question.options.some(({ id }) => id === value.value)
        ? value.value
        : undefined;
    case 'multi-select': {
      const offered = new Set(question.options.map(({ id }) => id));
      return value.kind === 'selected-many' ? value.value.filter((id) => offered.has(id)) : undefined;
    }
  }
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: Value });
}

function boundedText(text: string, maxCharacters = MCP_TEXT_MAX_CHARACTERS): string {
  return shorten(visibleText(text, 'lines'), maxCharacters);
}
