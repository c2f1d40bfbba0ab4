/** How parts of the host report what they do. While nothing subscribes, a report costs one comparison. */

export type AttributeValue = string | number | boolean | undefined;
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface TelemetryReports {
  /**
   * Reports a span around some work, and measures how long it took. Of a failure it reports only the kind: the message
   * may quote what was worked on.
   */
  around<T>(
    name: string,
    attributes: Attributes,
    work: () => Promise<T>,
    failureIn?: (result: T) => string | undefined,
  ): Promise<T>;
  /** Adds a value to a distribution, such as a duration or a count. */
  measure(name: string, unit: string, value: number, attributes?: Attributes): void;
  count(name: string, unit: string, by?: number, attributes?: Attributes): void;
}
