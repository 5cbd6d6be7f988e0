package firecrawl

import "net/http"

// unlimited is what clients are told to have left. Some ask before they read, and read nothing without credits.
const unlimited = 1_000_000

// creditAnswer says what a team has left. The names of its data are those of the version.
type creditAnswer struct {
	Success bool           `json:"success"`
	Data    map[string]any `json:"data"`
}

// serveCredits says that nothing is charged: each answer has all credits left, and there is no billing period.
func (*Service) serveCredits(v version, _ *http.Request) (any, error) {
	if v == 1 {
		return creditAnswer{true, map[string]any{
			"remaining_credits": unlimited, "plan_credits": unlimited, "billing_period_start": nil, "billing_period_end": nil,
		}}, nil
	}
	return creditAnswer{true, map[string]any{
		"remainingCredits": unlimited, "planCredits": unlimited, "billingPeriodStart": nil, "billingPeriodEnd": nil,
	}}, nil
}
