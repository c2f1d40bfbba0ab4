/** The models that an agent offered in the session it opened last. Nobody can know them before: it only tells there. */
import type { OfferedModel } from './model-setting.js';

export class OfferedModels {
  #models: readonly OfferedModel[] = [];
  readonly #watchers: (() => void)[] = [];

  get all(): readonly OfferedModel[] {
    return this.#models;
  }

  watch(changed: () => void): void {
    this.#watchers.push(changed);
  }

  set(models: readonly OfferedModel[]): void {
    if (JSON.stringify(models) === JSON.stringify(this.#models)) return;
    this.#models = models;
    for (const changed of this.#watchers) changed();
  }
}
