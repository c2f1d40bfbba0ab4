/**
 * What models cost, in US dollars for a million tokens. This is data: to bring it up to date, change the lines and the date.
 * People replace or add prices in their own configuration (`prices`), without waiting for a release.
 *
 * A price counts for the model of exactly this id, also with a date or `-latest` behind it. Surcharges for very long requests,
 * discounts for batches, and tools that providers charge for are not in here.
 */
export interface Price {
  readonly input: number;
  /** Input that came from a cache. Absent: as other input. */
  readonly cachedInput?: number;
  /** Input that was put into a cache. Absent: as other input. */
  readonly cacheWrite?: number;
  readonly output: number;
}

export const PRICES_DATE = '2025-12-01';
export const PRICES_SOURCE = "the public price lists of Anthropic's and OpenAI's APIs, pay as you go";

const OPUS = { input: 15, cachedInput: 1.5, cacheWrite: 18.75, output: 75 };
const OPUS_4_5 = { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 };
const SONNET = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 };
const GPT_5 = { input: 1.25, cachedInput: 0.125, output: 10 };

export const PRICES: Readonly<Record<string, Price>> = {
  'claude-opus-4-0': OPUS,
  'claude-opus-4': OPUS,
  'claude-opus-4-1': OPUS,
  'claude-opus-4-5': OPUS_4_5,
  'claude-3-7-sonnet': SONNET,
  'claude-sonnet-4-0': SONNET,
  'claude-sonnet-4': SONNET,
  'claude-sonnet-4-5': SONNET,
  'claude-3-5-haiku': { input: 0.8, cachedInput: 0.08, cacheWrite: 1, output: 4 },
  'claude-haiku-4-5': { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 },
  'gpt-4o': { input: 2.5, cachedInput: 1.25, output: 10 },
  'gpt-4o-mini': { input: 0.15, cachedInput: 0.075, output: 0.6 },
  'gpt-4.1': { input: 2, cachedInput: 0.5, output: 8 },
  'gpt-4.1-mini': { input: 0.4, cachedInput: 0.1, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, cachedInput: 0.025, output: 0.4 },
  o3: { input: 2, cachedInput: 0.5, output: 8 },
  'o4-mini': { input: 1.1, cachedInput: 0.275, output: 4.4 },
  'gpt-5': GPT_5,
  'gpt-5-codex': GPT_5,
  'gpt-5-mini': { input: 0.25, cachedInput: 0.025, output: 2 },
  'gpt-5-nano': { input: 0.05, cachedInput: 0.005, output: 0.4 },
  'gpt-5.1': GPT_5,
};
