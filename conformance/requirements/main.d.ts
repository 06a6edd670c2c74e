/** Prints what the arguments ask for and sets the exit code; `projects` are the folders that have a `test` folder. */
export declare const main: (args: ReadonlyArray<string>, projects: ReadonlyArray<string>) => void
