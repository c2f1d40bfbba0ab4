/** Contents that the host hands out by reference, whoever keeps them. Each kind has a URI scheme and a reader. */

export interface StoredContent {
  readonly bytes: Uint8Array;
  readonly contentType?: string;
}

export interface ContentReader {
  /** How its URIs begin: `atrium-changes:`. */
  readonly scheme: string;
  /** Undefined when there is no such content (any more). */
  read(uri: string): Promise<StoredContent | undefined>;
}
