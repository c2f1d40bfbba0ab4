/** Where folders are, for several hosts that each see only some of them. A path means nothing on another machine. */

export interface FolderPlace {
  /** The folder's path. */
  readonly folder: string;
  /** The host that saw it there, and that host's machine. */
  readonly host: string;
  readonly machine: string;
  /** The shared volume that contains it; absent for a folder that only that machine has. */
  readonly volume?: string;
}

export interface FolderPlaces {
  /** Where a folder is that this host sees; undefined when every host sees the same folder at that path. */
  placeOf(folder: string): Promise<FolderPlace | undefined>;
  /** What to tell a person when this host does not see the folder at that place; undefined when it does. */
  missing(place: FolderPlace): Promise<string | undefined>;
}
