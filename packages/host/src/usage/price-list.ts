/**
 * Finds the price of a model, and computes the cost of its tokens. Without a known price there are only tokens, no
 * money.
 */
import type { UsageRow } from './accounts.js';
import { PRICES, PRICES_DATE, PRICES_SOURCE, type Price } from './prices.js';

/** The end of a model's id: the day of a release, or `latest`. */
const RELEASE = /-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;
const MILLION = 1_000_000;

export interface PriceListOptions {
  /** By model; they take precedence over the built-in prices. */
  readonly prices?: Readonly<Record<string, Price>> | undefined;
  /** The ids of agents that a flat plan pays for. */
  readonly flatPlans?: readonly string[] | undefined;
}

export class PriceList {
  readonly #own: Readonly<Record<string, Price>>;
  readonly #flat: ReadonlySet<string>;

  constructor({ prices = {}, flatPlans = [] }: PriceListOptions = {}) {
    this.#own = prices;
    this.#flat = new Set(flatPlans);
  }

  /** Where the prices come from, for people. */
  get origin(): { readonly date: string; readonly source: string; readonly own: readonly string[] } {
    return { date: PRICES_DATE, source: PRICES_SOURCE, own: Object.keys(this.#own) };
  }

  priceOf(model: string): Price | undefined {
    for (const id of [model, model.replace(RELEASE, '')])
      for (const prices of [this.#own, PRICES]) if (Object.hasOwn(prices, id)) return prices[id];
    return undefined;
  }

  /**
   * In US dollars; undefined when a flat plan pays, or the price is unknown. A cost that the agent itself reports takes
   * precedence.
   */
  costOf(row: UsageRow): number | undefined {
    const { agent, model, plan, costUsd } = row;
    if (plan === 'flat' || this.#flat.has(agent)) return undefined;
    if (costUsd > 0) return costUsd;
    const price = model === undefined ? undefined : this.priceOf(model);
    return price && priced(row, price);
  }
}

function priced({ input, cacheRead, cacheWrite, output }: UsageRow, price: Price): number {
  const plain = Math.max(0, input - cacheRead - cacheWrite);
  const { cachedInput = price.input, cacheWrite: written = price.input } = price;
  return (plain * price.input + cacheRead * cachedInput + cacheWrite * written + output * price.output) / MILLION;
}
