/** Skills, as the operator and users see them. */
import { orRefuse, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { Services } from "../../../kernel/plugin.ts";
import { Skill, SkillProblem } from "./wire.ts";

const route = routesOf("tools");

export function skillRoutes({
  skills,
  addedSkills,
}: Partial<Pick<Services, "skills" | "addedSkills">>): readonly Route[] {
  const there = orRefuse(skills, "service_off", "Skills are not available.");
  return [
    route("GET /api/skills", {
      summary: "List skills, with whose words they are and what they want, and folders that cannot be used",
      answer: Type.Object({ skills: Type.Array(Skill), problems: Type.Array(SkillProblem) }),
      scoped: true,
      async handle({ user }) {
        if (user.scope?.tools && !user.scope.tools.includes("skill_load"))
          return { skills: [], problems: [] };
        const isOperator = user.role === "operator";
        const [listed, added = [], problems] = await Promise.all([
          there().list(),
          addedSkills?.list(),
          isOperator ? there().problems() : [],
        ]);
        const agreed = new Map(added.map((one) => [one.name, one]));
        const read = await Promise.all(listed.map(({ name }) => there().read(name)));
        const shown = read.flatMap((skill) => {
          if (skill === undefined) return [];
          const { name, description, origin, allowedTools, requiredTools, files } = skill;
          const row = origin && agreed.get(name);
          return {
            name,
            description,
            source: row ? "added" : "own",
            from: isOperator ? row?.origin.reference : undefined,
            agreedAt: row?.addedAt,
            allowedTools: allowedTools && [...allowedTools],
            requiredTools: [...requiredTools],
            scripts: files.filter(({ kind }) => kind === "script").map(({ path }) => path),
          } as const;
        });
        return { skills: shown, problems: [...problems] };
      },
    }),
  ];
}
