// Pure. Texts about a simulated user, under their titles.
import type { Clip, TaskUser } from "../generated";

/** The texts that the user has: persona, goal, what it knows, and when it is satisfied. */
export const userTexts = (user: TaskUser): [string, Clip][] =>
  (
    [
      ["Persona", user.persona],
      ["Goal", user.goal],
      ["Knows", user.knows],
      ["Satisfied when", user.satisfied_when],
    ] as const
  ).flatMap(([name, text]): [string, Clip][] => (text === null ? [] : [[name, text]]));
