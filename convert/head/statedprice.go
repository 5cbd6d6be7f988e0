package head

import (
	"strconv"
	"strings"
)

// Amount returns the first number in s, as prices are written anywhere: 1,646.00, 1.646,00, 1646 or 39,99; and what
// follows it. Without a number it returns 0 and "". The last dot or comma begins cents if two digits or fewer follow
// it.
func Amount(s string) (sum float64, rest string) {
	begin := strings.IndexAny(s, "0123456789")
	if begin < 0 {
		return 0, ""
	}
	s = s[begin:]
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || (s[end] == '.' || s[end] == ',') && end+1 < len(s) &&
		s[end+1] >= '0' && s[end+1] <= '9') {
		end++
	}
	number, cents := s[:end], ""
	if at := strings.LastIndexAny(number, ".,"); at >= 0 && len(number)-at <= 3 {
		number, cents = number[:at], number[at+1:]
	}
	number = strings.NewReplacer(".", "", ",", "").Replace(number)
	sum, _ = strconv.ParseFloat(number+"."+cents+"0", 64)
	return sum, s[end:]
}

// priceKeys are the names under which a page's metadata state the price of what it sells. They are in lower case, best
// first.
var priceKeys = []string{"product:price:amount", "og:price:amount", "product:sale_price:amount", "price", "lowprice"}

// statedPrice returns the price in JSON-LD about a product, or 0. Of several offers the first counts, of a range its
// lower end.
func statedPrice(product map[string]any) float64 {
	offers := product["offers"]
	if list, ok := offers.([]any); ok && len(list) > 0 {
		offers = list[0]
	}
	offer, ok := offers.(map[string]any)
	if !ok {
		return 0
	}
	for _, key := range []string{"price", "lowPrice"} {
		switch v := offer[key].(type) {
		case float64:
			return v
		case string:
			sum, _ := Amount(v)
			return sum
		}
	}
	return 0
}
