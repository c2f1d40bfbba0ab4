/**
 * What models cost, in US dollars for a million tokens. This is data: to update it, change the lines and the date.
 * People replace or add prices in their own configuration (`prices`), without waiting for a release. A price applies to
 * the model with exactly this id, or with a date or `-latest` appended. Surcharges for very long requests, discounts
 * for batches, and tools that providers charge for are not included.
 */
export interface Price {
  readonly input: number;
  /** Input that came from a cache. Default: the price of other input. */
  readonly cachedInput?: number;
  /** Input that was written to a cache. Default: the price of other input. */
  readonly cacheWrite?: number;
  readonly output: number;
}

export const PRICES_DATE = '2026-10-27';
/**
 * The authors wrote the prices down by hand; no program has read them from the lists, and lists change without notice.
 */
export const PRICES_SOURCE =
  "what the authors knew of the public price lists of Anthropic's and OpenAI's APIs on that day, unverified; your own come first (prices in the configuration)";

const FABLE = { input: 10, cachedInput: 1, cacheWrite: 12.5, output: 50 };
const OPUS_4 = { input: 15, cachedInput: 1.5, cacheWrite: 18.75, output: 75 };
const OPUS = { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 };
const SONNET = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 };
const SONNET_5 = { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 };
const GPT_5 = { input: 1.25, cachedInput: 0.125, output: 10 };
const GPT_5_2 = { input: 1.75, cachedInput: 0.175, output: 14 };
const GPT_5_6_SOL = { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 30 };

/**
 * Claude Haiku 5.5 is missing: it costs five times as much above 100,000 tokens, and a sum of tokens does not tell
 * which requests exceeded that.
 */
export const PRICES: Readonly<Record<string, Price>> = {
  'claude-fable-5-1': { ...FABLE, cachedInput: 0.25 },
  'claude-fable-5': FABLE,
  'claude-opus-5-5': { input: 4, cachedInput: 0.2, cacheWrite: 5, output: 20 },
  'claude-opus-5': OPUS,
  'claude-opus-4-8': OPUS,
  'claude-opus-4-7': OPUS,
  'claude-opus-4-6': OPUS,
  'claude-opus-4-5': OPUS,
  'claude-opus-4-1': OPUS_4,
  'claude-opus-4-0': OPUS_4,
  'claude-opus-4': OPUS_4,
  'claude-sonnet-5-5': { ...SONNET_5, cachedInput: 0.1 },
  'claude-sonnet-5': SONNET_5,
  'claude-sonnet-4-6': SONNET,
  'claude-sonnet-4-5': SONNET,
  'claude-sonnet-4-0': SONNET,
  'claude-sonnet-4': SONNET,
  'claude-3-7-sonnet': SONNET,
  'claude-haiku-4-5': { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 },
  'claude-3-5-haiku': { input: 0.8, cachedInput: 0.08, cacheWrite: 1, output: 4 },
  'gpt-6.1-terra': { input: 1, cachedInput: 0.05, cacheWrite: 1.25, output: 5 },
  'gpt-6-astra': { input: 10, cachedInput: 1, output: 50 },
  'gpt-6-sol': { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 },
  'gpt-6-luna': { input: 0.1, cachedInput: 0.01, cacheWrite: 0.125, output: 0.5 },
  'gpt-5.6': GPT_5_6_SOL,
  'gpt-5.6-sol': GPT_5_6_SOL,
  'gpt-5.6-terra': { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 12 },
  'gpt-5.6-luna': { input: 0.2, cachedInput: 0.02, cacheWrite: 0.25, output: 1.2 },
  'gpt-5.5': { input: 5, cachedInput: 0.5, output: 30 },
  'gpt-5.4': { input: 2.5, cachedInput: 0.25, output: 15 },
  'gpt-5.4-mini': { input: 0.75, cachedInput: 0.075, output: 4.5 },
  'gpt-5.4-nano': { input: 0.2, cachedInput: 0.02, output: 1.25 },
  'gpt-5.3-codex': GPT_5_2,
  'gpt-5.2': GPT_5_2,
  'gpt-5.2-codex': GPT_5_2,
  'gpt-5.1': GPT_5,
  'gpt-5': GPT_5,
  'gpt-5-codex': GPT_5,
  'gpt-5-mini': { input: 0.25, cachedInput: 0.025, output: 2 },
  'gpt-5-nano': { input: 0.05, cachedInput: 0.005, output: 0.4 },
  'gpt-4.1': { input: 2, cachedInput: 0.5, output: 8 },
  'gpt-4.1-mini': { input: 0.4, cachedInput: 0.1, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, cachedInput: 0.025, output: 0.4 },
  'gpt-4o': { input: 2.5, cachedInput: 1.25, output: 10 },
  'gpt-4o-mini': { input: 0.15, cachedInput: 0.075, output: 0.6 },
  o3: { input: 2, cachedInput: 0.5, output: 8 },
  'o4-mini': { input: 1.1, cachedInput: 0.275, output: 4.4 },
};
