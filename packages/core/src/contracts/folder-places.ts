/** Where folders are, for hosts of which each sees some. A path means nothing on another machine. */

export interface FolderPlace {
  /** The folder, as a path. */
  readonly folder: string;
  /** The host that saw it there, and its machine. */
  readonly host: string;
  readonly machine: string;
  /** The shared volume that it is on; absent for a folder of that machine alone. */
  readonly volume?: string;
}

export interface FolderPlaces {
  /** Where a folder is that this host sees; undefined when every host sees the same there. */
  placeOf(folder: string): Promise<FolderPlace | undefined>;
  /** What a person has to know when this host does not see the folder at that place; undefined when it does. */
  missing(place: FolderPlace): Promise<string | undefined>;
}
