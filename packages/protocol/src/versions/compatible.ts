/** The rule that keeps old peers working, as types: a message may gain optional members, and nothing else. */

type DeepRequired<T> = T extends object ? { [Key in keyof T]-?: DeepRequired<T[Key]> } : T;

/** Every member that was there is there still, with its type; optional ones too. */
type KeepsAll<Frozen, Current> = [DeepRequired<Current>] extends [DeepRequired<Frozen>] ? true : false;

/** What an old peer sends is still enough. */
type DemandsNothingNew<Frozen, Current> = [Frozen] extends [Current] ? true : false;

export type Compatible<Frozen, Current> = [KeepsAll<Frozen, Current>, DemandsNothingNew<Frozen, Current>];

/** The names in a table of message types that are gone, or are no longer compatible. */
export type Broken<Frozen, Current> = {
  [Name in keyof Frozen]: Name extends keyof Current
    ? Compatible<Frozen[Name], Current[Name]> extends [true, true]
      ? never
      : Name
    : Name;
}[keyof Frozen];

/** Does not compile unless the list of names is empty; the compiler then prints the names. */
export type AssertNone<Names extends never> = Names;
