/**
 * What pipes alone can carry: each line is answered by the same line, nothing is looked at.
 */
process.stdin.pipe(process.stdout)
