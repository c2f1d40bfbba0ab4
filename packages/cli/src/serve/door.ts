/** How clients reach the host: over the network, or over standard input and output. */

export interface OpenDoor {
  /** Fulfilled with a reason when there is nobody left to serve; never, where new clients may come. */
  readonly ended: Promise<string>;
  /** Where it stands open, for people and programs. */
  readonly place: Place;
  /** No new client from now on. */
  stopAccepting(): void;
  close(): Promise<void>;
}

export type Place =
  | {
      readonly at: 'network';
      readonly port: number;
      readonly url: string;
      /** For other machines, where it is open to them: the same with the addresses of this one. */
      readonly fromElsewhere: readonly string[];
      readonly tokenFile: string | undefined;
      readonly hasPage: boolean;
    }
  | { readonly at: 'stdio' };
